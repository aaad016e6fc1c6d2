"""The one place that opens, closes and locks the warehouse's files.

A writer holds the vault alone from open to close, for as long as one job takes; a
second one waits a moment. Readers open the published copy (`publish.py`), and neither
wait for a writer nor keep one waiting.
"""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import duckdb

from agentlake.errors import UserError
from agentlake.pipelines import timing
from agentlake.pipelines.literal import literal
from agentlake.pipelines.warehouse.begin import OPTIONS, begin, is_unfinished
from agentlake.pipelines.warehouse.copy_closed import log_of
from agentlake.pipelines.warehouse.files import (
    refuse_foreign,
    refuse_inner,
    vault_of,
)
from agentlake.pipelines.warehouse.memory import bounded, sweep
from agentlake.pipelines.warehouse.publish import adopt

NAME = "lake"
"""The warehouse's name in a writer's connection; readers see the file's own."""
_HOLDER = re.compile(r"Conflicting lock is held in (?P<program>.*?) \(PID (?P<pid>\d+)")

T = TypeVar("T")
Connection = duckdb.DuckDBPyConnection


class BusyError(UserError):
    """Another program holds the warehouse; the message names it."""


@contextmanager
def writing(path: Path, *, wait_s: float = 10.0) -> Iterator[Connection]:
    """The vault of this warehouse for one writer, created if it does not exist.

    What is written is seen by readers after `publish`, when this is closed. Raises
    BusyError when another program holds the vault for longer than `wait_s`.
    """
    refuse_inner(path)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    before = os.umask(0o077)  # transcripts hold secrets: the files are the user's alone
    connection = duckdb.connect()
    vault = vault_of(path)
    try:
        if not vault.exists() and path.exists():
            _adopt(path, vault, wait_s)
        # Beside a copy that somebody reads, a vault without rows is a damaged one.
        if not vault.exists() or (not path.exists() and is_unfinished(vault)):
            _patiently(path, wait_s, lambda: begin(vault), vault)
        attach(connection, path, vault, NAME, wait_s=wait_s)
        connection.execute(f"use {NAME}")
        connection.execute("set checkpoint_threshold = '256MB'")
        connection.execute("set preserve_insertion_order = false")
        sweep(path)
        with bounded(connection, path):
            yield connection
    finally:
        connection.close()
        os.umask(before)


@contextmanager
def reading(path: Path, *, wait_s: float = 10.0) -> Iterator[Connection]:
    """The published copy for one reader. Raises UserError when there is none yet.

    It stays what it is while it is open, whatever is published meanwhile.
    """
    _refuse_missing(path)
    connection = _patiently(
        path, wait_s, lambda: duckdb.connect(str(path), read_only=True)
    )
    try:
        with bounded(connection, path):
            yield connection
    finally:
        connection.close()


def attach(
    connection: Connection,
    path: Path,
    file: Path,
    name: str,
    *,
    wait_s: float,
    read_only: bool = False,
) -> None:
    """Attach a file of the warehouse `path`, made as our files are if it is new.

    Raises BusyError when another program holds it for longer than `wait_s`.
    """
    options = "read_only"
    if not read_only:
        options = OPTIONS
    query = f"attach {literal(str(file))} as {name} ({options})"
    _patiently(path, wait_s, lambda: connection.execute(query), file)


def attach_published(connection: Connection, path: Path, name: str) -> None:
    """Attach the copy that is published now, read-only, to any connection.

    To connect to the path would give what this process has open under it already,
    which may be an older copy. Raises UserError when there is none yet.
    """
    _refuse_missing(path)
    attach(connection, path, path, name, wait_s=10.0, read_only=True)


def _adopt(path: Path, vault: Path, wait_s: float) -> None:
    """Make the vault of a warehouse that is old, or came from elsewhere."""
    _patiently(path, wait_s, lambda: refuse_foreign(path))
    if path.stat().st_size:
        close_well(path, wait_s)
        adopt(path, vault)


def _refuse_missing(path: Path) -> None:
    refuse_inner(path)
    if not path.exists():
        msg = f"{path}: no warehouse yet. Load one with `agentlake load`."
        raise UserError(msg)


def close_well(path: Path, wait_s: float) -> None:
    """Bring what a killed writer left in the log into the file itself."""
    is_closed = not log_of(path).exists()
    _patiently(
        path, wait_s, lambda: duckdb.connect(str(path), read_only=is_closed)
    ).close()


def _patiently(
    path: Path, wait_s: float, open_it: Callable[[], T], file: Path | None = None
) -> T:
    """Open the file, again and again while another program holds it."""
    deadline = time.monotonic() + wait_s
    while True:
        try:
            return open_it()
        except duckdb.Error as error:
            holder = _HOLDER.search(str(error))
            if holder is None:
                raise UserError(_unusable(path, file or path, error)) from error
            if time.monotonic() >= deadline:
                program, pid = Path(holder["program"]).name, holder["pid"]
                msg = (
                    f"{path}: another program is writing to it ({program}, pid {pid});"
                    f" waited {wait_s:.0f} s. Nothing was changed. Try again when it is"
                    " done; a client that only reads opens it read-only."
                )
                raise BusyError(msg) from error
            time.sleep(timing.WAIT_STEP_S)


def _unusable(path: Path, file: Path, error: Exception) -> str:
    """Why a file cannot be opened; of a damaged vault also what to do with the copy."""
    reason = str(error).splitlines()[0]
    if file != vault_of(path):
        return f"{file}: cannot be opened as a warehouse. {reason}"
    msg = f"{file}: the vault of {path.name} cannot be opened. {reason}"
    if not path.exists():
        return msg
    return (
        f"{msg} What was published last is still at {path}: `agentlake restore {path}`"
        " makes a new vault of it and keeps the damaged one beside it. What was loaded"
        " after that and is still on disk is loaded again."
    )


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


@contextmanager
def second(connection: Connection) -> Iterator[Connection]:
    """Another connection to a writer's warehouse: it sees what is committed."""
    beside = connection.cursor()
    try:
        beside.execute(f"use {NAME}")  # a new connection does not inherit it
        yield beside
    finally:
        beside.close()
