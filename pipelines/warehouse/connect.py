"""The one place that opens, closes and locks the warehouse file.

A writer holds the file alone from open to close; readers share it. So both open it
for as long as one job takes, and who comes second waits a moment. A published
copy for readers will come in here.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from agentlake.models.errors import UserError

# Files that DuckDB 1.5 clients (the CLI, BI tools) can read as well.
_STORAGE_VERSION = "v1.5.0"
_HOLDER = re.compile(r"Conflicting lock is held in (?P<program>.*?) \(PID (?P<pid>\d+)")
_WAIT_STEP_S = 0.05

Connection = duckdb.DuckDBPyConnection


class BusyError(UserError):
    """Another program holds the warehouse; the message names it."""


@contextmanager
def writing(path: Path, *, wait_s: float = 10.0) -> Iterator[Connection]:
    """The warehouse for one writer, created if it does not exist.

    Raises BusyError when another program holds it for longer than `wait_s`.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    before = os.umask(0o077)  # transcripts hold secrets: the file is the user's alone
    try:
        connection = _connect(path, read_only=False, wait_s=wait_s)
    finally:
        os.umask(before)
    try:
        connection.execute("set checkpoint_threshold = '256MB'")
        connection.execute("set preserve_insertion_order = false")
        yield connection
    finally:
        connection.close()


@contextmanager
def reading(path: Path, *, wait_s: float = 10.0) -> Iterator[Connection]:
    """The warehouse for one reader. Raises UserError when there is none yet."""
    if not path.exists():
        msg = f"{path}: no warehouse yet. Load one with `agentlake load`."
        raise UserError(msg)
    connection = _connect(path, read_only=True, wait_s=wait_s)
    try:
        yield connection
    finally:
        connection.close()


def _connect(path: Path, *, read_only: bool, wait_s: float) -> Connection:
    config: dict[str, str | bool | int | float | list[str]] = (
        {} if read_only else {"storage_compatibility_version": _STORAGE_VERSION}
    )
    deadline = time.monotonic() + wait_s
    while True:
        try:
            return duckdb.connect(str(path), read_only=read_only, config=config)
        except duckdb.IOException as error:
            holder = _HOLDER.search(str(error))
            if holder is None:
                msg = f"{path}: cannot be opened as a warehouse. {error}"
                raise UserError(msg) from error
            if time.monotonic() >= deadline:
                msg = (
                    f"{path} is open in another program ({Path(holder['program']).name},"
                    f" pid {holder['pid']}); waited {wait_s:.0f} s. Nothing was changed."
                    " Close it, or try again when it is done."
                )
                raise BusyError(msg) from error
            time.sleep(_WAIT_STEP_S)


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """All or nothing: what the block writes is committed at its end, or not at all."""
    connection.execute("begin")
    try:
        yield
    except BaseException:
        # A failed commit has rolled back already; then there is nothing to undo.
        with suppress(duckdb.Error):
            connection.execute("rollback")
        raise
    connection.execute("commit")
