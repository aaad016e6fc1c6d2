"""A query of somebody's own: it reads the published copy, and can do nothing else.

No file, no network, no extension, no other database, no setting; so much memory and
so much time. What does not fit into memory is put on disk, in a folder beside the
warehouse that goes with the connection.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import duckdb

from agentlake.errors import UserError
from agentlake.pipelines.warehouse.connect import Connection, reading

MEMORY_GB = 2
DISK_GB = 10
_MAY_RUN = {
    duckdb.StatementType.SELECT,  # describe, summarize and show as well
    duckdb.StatementType.EXPLAIN,
    duckdb.StatementType.MULTI,  # pivot
}


@contextmanager
def sandbox(path: Path, zone: str, *, seconds: float) -> Iterator[Connection]:
    """The published copy for one query; days are those of this time zone.

    Whatever DuckDB has to say of the query is raised as UserError, a limit that was
    reached with what to do about it.
    """
    before = os.umask(0o077)
    is_late = False
    try:
        with reading(path) as connection:

            def stop() -> None:
                nonlocal is_late
                is_late = True
                connection.interrupt()

            _shut_off(connection, path, zone)
            timer = Timer(seconds, stop)
            timer.daemon = True
            timer.start()
            try:
                yield connection
            finally:
                timer.cancel()
    except duckdb.InterruptException as error:
        if not is_late:
            raise KeyboardInterrupt from error
        msg = (
            f"the query was stopped after {seconds:,.0f} s. Ask for fewer days or"
            " columns, or give it more time: --timeout SECONDS."
        )
        raise UserError(msg) from error
    except duckdb.OutOfMemoryException as error:
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


def _shut_off(connection: Connection, path: Path, zone: str) -> None:
    spill = str(path.with_name(f".{path.name}.{os.getpid()}.spill"))
    spill = spill.replace("'", "''")
    for setting in (
        f"variable time_zone = '{zone}'",  # which the marts ask
        f"timezone = '{zone}'",
        f"memory_limit = '{MEMORY_GB}GB'",
        f"temp_directory = '{spill}'",
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
