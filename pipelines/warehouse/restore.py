"""Make the vault of a whole warehouse file: a backup, or what was published last.

For a damaged vault, a wrong turn, a new machine. The vault that was there is moved
aside, never written over; if anything goes wrong it is moved back.
"""

import fcntl
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from agentlake.errors import UserError
from agentlake.pipelines.warehouse.connect import BusyError, close_well
from agentlake.pipelines.warehouse.copy_closed import log_of
from agentlake.pipelines.warehouse.files import (
    refuse_foreign,
    refuse_inner,
    vault_of,
)
from agentlake.pipelines.warehouse.publish import adopt, publish

_TABLES = """
    select '"' || schema_name || '"."' || table_name || '"' from duckdb_tables()
    where not internal
"""


def restore(path: Path, backup: Path, *, wait_s: float = 10.0) -> Path | None:
    """Let the warehouse `path` go on from `backup`, which is read to its end first.

    Returns where the vault that was there is kept now. Raises UserError for a file that
    is no warehouse or is damaged itself, and BusyError while a load runs; all is then
    as it was.
    """
    refuse_inner(path)
    if not backup.exists():
        msg = f"{backup}: there is no such file. Nothing was changed."
        raise UserError(msg)
    _read_all(backup, wait_s)
    vault = vault_of(path)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = _aside(vault)
    try:
        adopt(backup, vault)
    except BaseException:
        if kept:
            _move(kept, vault)
        raise
    publish(path)
    return kept


def _read_all(backup: Path, wait_s: float) -> None:
    """Read every block: each has a checksum, and a wrong one is told here."""
    try:
        refuse_foreign(backup)
        close_well(backup, wait_s)
        with duckdb.connect(str(backup), read_only=True) as connection:
            tables = [name for (name,) in connection.execute(_TABLES).fetchall()]
            for table in tables:
                connection.execute(
                    f"select bit_xor(hash(rows)) from {table} as rows"
                ).fetchall()
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        msg = f"{backup}: is damaged, so nothing was changed. {reason}"
        raise UserError(msg) from error
    if not tables:
        msg = f"{backup}: holds no warehouse, so nothing was changed."
        raise UserError(msg)


def _aside(vault: Path) -> Path | None:
    """Move the vault that nobody writes to out of the way."""
    if not vault.exists():
        return None
    file = os.open(vault, os.O_RDWR)
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the lock of DuckDB's writers
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        kept = vault.with_name(f"{vault.stem}.before-{stamp}{vault.suffix}")
        _move(vault, kept)
    except BlockingIOError as error:
        msg = f"{vault}: a load writes to it now. Nothing was changed; try again."
        raise BusyError(msg) from error
    finally:
        os.close(file)
    return kept


def _move(one: Path, to: Path) -> None:
    with suppress(FileNotFoundError):
        log_of(one).replace(log_of(to))
    one.replace(to)
