"""A query of somebody's own: it reads the published copy, and can do nothing else.

No file, no network, no extension, no other database, no setting; so much memory and
so much time. What does not fit into memory is put on disk, in a folder beside the
warehouse that goes with the connection.

Memory is limited twice: DuckDB's own limit makes it spill to disk, and a limit on the
address space of the process stops what DuckDB does not count. Time is limited twice as
well: DuckDB is interrupted, and where that has no effect, because a function does not
listen or a result is being printed, the process ends itself a little later.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import duckdb

from agentlake.errors import UserError
from agentlake.pipelines import timing
from agentlake.pipelines.literal import literal
from agentlake.pipelines.warehouse.connect import Connection, reading
from agentlake.pipelines.warehouse.memory import spill_of

MEMORY_GB = 1
DISK_GB = 10
ADDRESS_SPACE = 4 << 30
"""What the process may reserve beyond what it has when the query begins: DuckDB's
memory, as much again for what is printed, and what allocators reserve unused."""
_MAY_RUN = {
    duckdb.StatementType.SELECT,  # describe, summarize and show as well
    duckdb.StatementType.EXPLAIN,
    duckdb.StatementType.MULTI,  # pivot
}


@contextmanager
def sandbox(path: Path, zone: str, *, seconds: float) -> Iterator[Connection]:
    """The published copy for one query; days are those of this time zone.

    Whatever DuckDB has to say of the query is raised as UserError, a limit that was
    reached with what to do about it. The block must end within the time as well: if it
    does not, the process exits with the code of a UserError.
    """
    before = os.umask(0o077)
    spill = spill_of(path)
    clock = None
    try:
        with reading(path) as connection, _address_space():
            _shut_off(connection, spill, zone)
            with _Clock(connection, seconds, spill) as clock:
                yield connection
    except duckdb.InterruptException as error:
        if clock is None or not clock.is_late:
            raise KeyboardInterrupt from error
        raise UserError(_late(seconds)) from error
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        msg = (
            f"the query was stopped: it needs more than {MEMORY_GB} GB of memory or"
            f" {DISK_GB} GB of disk. Ask for fewer rows or columns, or add up first."
            f" Any other DuckDB client may read {path} without this limit."
        )
        raise UserError(msg) from error
    except duckdb.Error as error:
        raise UserError(str(error)) from error
    finally:
        os.umask(before)


def _late(seconds: float) -> str:
    return (
        f"the query was stopped after {seconds:,.0f} s. Ask for fewer days or"
        " columns, or give it more time: --timeout SECONDS."
    )


class _Clock:
    """Interrupts a query when its time is over; if it goes on, ends the process."""

    def __init__(self, connection: Connection, seconds: float, spill: Path) -> None:
        self.is_late = False
        self._connection = connection
        self._seconds = seconds
        self._spill = spill
        self._done = Event()

    def __enter__(self) -> "_Clock":
        Thread(target=self._run, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()

    def _run(self) -> None:
        if self._done.wait(self._seconds):
            return
        self.is_late = True
        self._connection.interrupt()
        if self._done.wait(timing.QUERY_GRACE_S):
            return
        with suppress(OSError):
            shutil.rmtree(self._spill)  # DuckDB cannot do it any more
        sys.stderr.write(f"agentlake: {_late(self._seconds)}\n")
        sys.stderr.flush()
        os._exit(2)


@contextmanager
def _address_space() -> Iterator[None]:
    """Let the process take so much more memory, where the system can count it."""
    try:
        import resource  # not on Windows

        before = resource.getrlimit(resource.RLIMIT_AS)
        pages = int(Path("/proc/self/statm").read_text().split()[0])  # Linux
    except (ImportError, OSError, ValueError):
        yield
        return
    most = pages * os.sysconf("SC_PAGE_SIZE") + ADDRESS_SPACE
    if before[0] != resource.RLIM_INFINITY:
        most = min(most, before[0])
    resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _shut_off(connection: Connection, spill: Path, zone: str) -> None:
    for setting in (
        f"variable time_zone = '{zone}'",  # which the marts ask
        f"timezone = '{zone}'",
        "search_path = 'main,marts,core,meta,staging'",  # `from daily_usage` is enough
        f"memory_limit = '{MEMORY_GB}GB'",
        f"temp_directory = {literal(str(spill))}",
        f"max_temp_directory_size = '{DISK_GB}GB'",
        "python_enable_replacements = false",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"set {setting}")


def one_question(connection: Connection, query: str) -> str:
    """The query without what stands around it. Raises UserError if it is not one.

    Of several statements only the last one's rows would be seen.
    """
    statements = connection.extract_statements(query)
    if len(statements) != 1:
        given = f"{len(statements)} were" if statements else "none was"
        msg = f"one statement at a time; {given} given."
        raise UserError(msg)
    if statements[0].type not in _MAY_RUN:
        msg = (
            f"{statements[0].type.name} is refused: a query can read the warehouse, and"
            " do nothing else."
        )
        raise UserError(msg)
    text = query.encode()  # tokens are found at bytes
    told = [
        at
        for at, kind in duckdb.tokenize(query)
        if kind != duckdb.token_type.comment and text[at : at + 1] != b";"
    ]
    ends = [
        at
        for at, _ in duckdb.tokenize(query)
        if at > told[-1] and text[at : at + 1] == b";"
    ]
    return text[told[0] : min(ends, default=len(text))].decode()
