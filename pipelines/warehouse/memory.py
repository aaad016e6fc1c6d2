"""How much memory DuckDB may take, and where it puts what does not fit.

It would take most of the machine's and keep what it once read; and what does not fit it
would put into the folder in which somebody happens to be.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from agentlake.pipelines.literal import literal
from agentlake.pipelines.processes import is_running

MOST_BYTES = 1 << 30
"""With 640 MB, the first load of 10 GB of logs ended for want of memory."""
_SHARE = 4
"""On a small machine, one part in so many of its memory."""
_PID = re.compile(r"\.(?P<pid>\d+)\.spill$")


def spill_of(path: Path) -> Path:
    """The folder beside a warehouse in which this process puts what does not fit."""
    return path.with_name(f".{path.name}.{os.getpid()}.spill")


def most_bytes() -> int:
    """What DuckDB may take on this machine."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(MOST_BYTES, whole // _SHARE)


@contextmanager
def bounded(connection: duckdb.DuckDBPyConnection, path: Path) -> Iterator[None]:
    """Limit the connection's memory; the folder for what does not fit goes at the end.

    Where no folder can be made there is none, and what does not fit fails.
    """
    folder = spill_of(path)
    with suppress(OSError):
        folder.mkdir(mode=0o700)
    place = literal(str(folder) if folder.is_dir() else "")
    connection.execute(
        f"set temp_directory = {place}; set memory_limit = '{most_bytes()}B'"
    )
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(path: Path) -> None:
    """Remove what processes left that were killed."""
    for folder in path.parent.glob(f".{path.name}.*.spill"):
        found = _PID.search(folder.name)
        if found and not is_running(int(found["pid"])):
            shutil.rmtree(folder, ignore_errors=True)
