"""Whether a load would work now: the folder, the disk and the vault, looked at only."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb

from agentlake.errors import UserError
from agentlake.pipelines import timing
from agentlake.pipelines.warehouse.connect import NAME, BusyError, attach
from agentlake.pipelines.warehouse.copy_closed import guard_of, log_of, new_of
from agentlake.pipelines.warehouse.files import refuse_foreign, vault_of

_LEAST_FREE = 256 << 20
"""What a load of an ordinary day, and its temporary files, may need."""


def _free_at(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def files(path: Path) -> dict[str, int]:
    """The bytes of each file that a warehouse consists of, as far as they exist."""
    vault = vault_of(path)
    named = (path, vault, log_of(vault), new_of(path), guard_of(path))
    return {one.name: one.stat().st_size for one in named if one.is_file()}


def obstacles(path: Path, free_at: Callable[[Path], int] = _free_at) -> list[str]:
    """What would stop a load, each with where and what to do; empty if nothing would.

    A load that runs at this moment is no obstacle. `free_at` gives the bytes that are
    free on the disk of a folder.
    """
    return [*_of_folder(path.parent), *_of_disk(path, free_at), *_of_vault(path)]


def _there(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    return next(one for one in (folder, *folder.parents) if one.exists())


def _of_folder(folder: Path) -> Iterator[str]:
    there = _there(folder)
    if not there.is_dir():
        yield f"{there}: is not a folder, so the warehouse cannot be made below it."
    elif not os.access(there, os.W_OK | os.X_OK):
        yield f"{there}: you may not write there, so a load fails. Change its rights."


def _of_disk(path: Path, free_at: Callable[[Path], int]) -> Iterator[str]:
    there = _there(path.parent)
    free = free_at(there)
    vault = vault_of(path)
    # A copy that anybody has open is replaced by a new one, beside it.
    copy = vault.stat().st_size if vault.is_file() else 0
    if free < copy + _LEAST_FREE:
        yield (
            f"{there}: {free >> 20:,} MB are free and a load may need"
            f" {(copy + _LEAST_FREE) >> 20:,} MB. Make room there."
        )


def _of_vault(path: Path) -> Iterator[str]:
    vault = vault_of(path)
    try:
        if vault.exists():
            with duckdb.connect() as connection:
                attach(
                    connection,
                    path,
                    vault,
                    NAME,
                    wait_s=timing.READ_WAIT_S,
                    read_only=True,
                )
        elif path.exists():
            refuse_foreign(path)
    except BusyError:
        return
    except (UserError, OSError, duckdb.Error) as error:
        yield str(error)
