"""Make a new vault: under another name, and whole before it gets its own.

DuckDB writes the first bytes of a file where it is to stay. Whoever was killed in the
middle of that, or had no room for it, left a file that nobody could open again.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from agentlake.pipelines.literal import literal
from agentlake.pipelines.warehouse.copy_closed import keep, log_of, new_of

# Files that DuckDB 1.5 clients (the CLI, BI tools) can read as well.
_STORAGE_VERSION = "v1.5.0"
# Rows are compressed when a row group is full. Small groups are full within one
# batch, so text goes straight into the file instead of through the log, by all cores.
_ROW_GROUP = 2048
OPTIONS = f"storage_version '{_STORAGE_VERSION}', row_group_size {_ROW_GROUP}"
"""How our files are made."""
_HEADERS = 12 << 10
"""A file up to here has no block, so no row."""


def begin(vault: Path) -> None:
    """Make the vault if there is none, or one that was never finished.

    Raises duckdb.Error where that is not possible; nothing is left then.
    """
    new = new_of(vault)
    with _alone_in(vault.parent):
        if vault.exists() and not is_unfinished(vault):
            return
        try:
            for left in (new, log_of(new), log_of(vault)):
                left.unlink(missing_ok=True)
            with duckdb.connect() as connection:
                connection.execute(f"attach {literal(str(new))} as made ({OPTIONS})")
                connection.execute("checkpoint made")
                connection.execute("detach made")
            keep(new)
            new.replace(vault)
            keep(vault.parent)
        finally:
            for left in (new, log_of(new)):
                left.unlink(missing_ok=True)


def is_unfinished(vault: Path) -> bool:
    """Whether its making was interrupted: no row is in it or beside it."""
    with suppress(FileNotFoundError):
        if log_of(vault).stat().st_size:
            return False
    if not vault.is_file() or vault.stat().st_size > _HEADERS:
        return False
    try:
        duckdb.connect(str(vault), read_only=True).close()
    except duckdb.IOException as error:
        return "lock" not in str(error)  # it is being made by an older version
    except duckdb.Error:
        return True
    return False


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """One at a time, where the file system knows locks."""
    file = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)
