"""Give back what the vault's file holds for nothing.

A DuckDB file never shrinks: what was deleted or made again leaves free blocks, which
later rows use. When they are most of the file, everything is copied into a new one,
which takes the old one's name. Whatever stops this leaves one of the two, whole.
"""

import os
import time
from pathlib import Path

import duckdb
import msgspec

from agentlake.pipelines import timing
from agentlake.pipelines.warehouse.connect import NAME, Connection, attach, writing
from agentlake.pipelines.warehouse.copy_closed import keep, log_of
from agentlake.pipelines.warehouse.files import vault_of

_SHARE = 0.5
"""Compact when more than this part of the file is free, ..."""
_LEAST_BYTES = 64 << 20
"""... and when it is worth the copy of the published file that follows."""
_NEW = "compacted"


class Compacted(msgspec.Struct, frozen=True, kw_only=True):
    """What there was to gain, and whether it was."""

    before: int
    """The bytes of the vault."""
    after: int
    free: int
    """The bytes in free blocks, before."""


def compact(path: Path, *, wait_s: float = 10.0) -> Compacted:
    """Shrink the vault of this warehouse, which this process has closed, if it pays.

    It needs room for what is not free. Raises BusyError when another program holds
    the vault, and DuckDB's error when the copy fails; the vault is then as it was.
    """
    vault = vault_of(path)
    with writing(path, wait_s=wait_s) as connection:
        connection.execute("checkpoint")  # of a log that a killed load left, too
        free = _free(connection)
    before = vault.stat().st_size
    if free > before * _SHARE and free >= _LEAST_BYTES:
        _rewrite(path, vault, wait_s)
    return Compacted(before=before, after=vault.stat().st_size, free=free)


def _free(connection: Connection) -> int:
    """The bytes of the file's free blocks."""
    ((free,),) = connection.execute(
        "select block_size * free_blocks from pragma_database_size()"
        f" where database_name = '{NAME}'"
    ).fetchall()
    return int(free)


def _rewrite(path: Path, vault: Path, wait_s: float) -> None:
    new = vault.with_name(f".{vault.name}.{_NEW}")
    for left in (new, log_of(new)):  # by one who was killed
        left.unlink(missing_ok=True)
    before = os.umask(0o077)
    connection = duckdb.connect()
    try:
        # Read-only keeps writers off, and leaves the log's name alone: once the new
        # file has the vault's name, a log is the next writer's.
        attach(connection, path, vault, NAME, wait_s=wait_s, read_only=True)
        if log_of(vault).exists():  # somebody wrote in between, and was killed
            return
        connection.execute("set preserve_insertion_order = false")
        attach(connection, path, new, _NEW, wait_s=0.0)
        connection.execute(f"copy from database {NAME} to {_NEW}")
        connection.execute(f"detach {_NEW}")
        if log_of(new).exists():
            return
        keep(new)
        new.replace(vault)
        keep(vault.parent)
        # Who opened the old file just before, to write, must find it locked, and open
        # the name again.
        time.sleep(timing.LATECOMER_S)
    finally:
        connection.close()
        os.umask(before)
        for left in (new, log_of(new)):
            left.unlink(missing_ok=True)
