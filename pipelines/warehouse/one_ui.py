"""One Dagster per warehouse: who looks after it, a lock that ends with its process."""

import fcntl
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from agentlake.errors import UserError

PID = "AGENTLAKE_UI_PID"
"""The variable by which all processes of an `agentlake ui` know that they are its."""


def lock_of(warehouse: Path) -> Path:
    """The file that is locked while an `agentlake ui` works on this warehouse."""
    return warehouse.with_name(f".{warehouse.name}.ui")


def hold(path: Path, what: str, url: str) -> None:
    """Be the only `agentlake ui` of this file's folder or warehouse, until we end.

    A program that takes our place inherits the lock. Raises UserError, which says who
    has it.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(file)
    except BlockingIOError:
        holder = os.read(file, 100).decode()
        os.close(file)
        msg = (
            f"another `agentlake ui` runs on this {what} ({holder}); it is at"
            f" {path.parent}. Use that one, or stop it with Ctrl-C or `kill -INT`."
        )
        raise UserError(msg) from None
    os.ftruncate(file, 0)
    os.write(file, f"pid {os.getpid()}, {url}".encode())
    os.set_inheritable(file, True)


def _lock(file: int) -> None:
    """Take the lock; who only asks about it (`other_ui`) has it for an instant."""
    for _ in range(4):
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(0.05)
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def other_ui(warehouse: Path, environ: Mapping[str, str]) -> str | None:
    """Who looks after the warehouse, if that is an `agentlake ui` and not ours.

    Of two programs that start runs on it one would always be too late.
    """
    try:
        file = os.open(lock_of(warehouse), os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(file, 100).decode()
        is_ours = holder.startswith(f"pid {environ.get(PID)},")
        return None if is_ours else holder
    except OSError:  # a place without locks: nobody can be told of anybody
        return None
    finally:
        os.close(file)
    return None
