"""What the machine refused, in a sentence: a full disk, a missing right, an old file.

Only what the user can put right is explained here. Anything else is a fault of ours,
and keeps its traceback.
"""

import errno
import sys
from pathlib import Path

_KEPT = "What was committed before stays; run the same command again after that."
_DO = {
    errno.ENOSPC: f"Make room there. {_KEPT}",
    errno.EDQUOT: f"Make room there. {_KEPT}",
    errno.EROFS: "Choose a place that can be written to. Nothing was changed.",
    errno.EACCES: "You need the right to read and write there. Nothing was changed.",
    errno.EPERM: "You need the right to read and write there. Nothing was changed.",
    errno.EIO: f"The disk fails; look at it first. {_KEPT}",
    errno.EMFILE: f"Allow more open files (`ulimit -n`). {_KEPT}",
    errno.ENFILE: f"Close other programs. {_KEPT}",
}


def explained(error: Exception, warehouse: Path | None) -> str | None:
    """What, where, what was kept and what to do; None for what is a fault of ours.

    `warehouse` is the file that the command worked on, None before that was known.
    """
    at = str(warehouse) if warehouse else "agentlake"
    if isinstance(error, MemoryError):
        return f"{at}: the memory of this machine is not enough. {_KEPT}"
    if isinstance(error, RecursionError):
        return f"{at}: something that was read is nested too deeply. {_KEPT}"
    if isinstance(error, OSError):
        return _of_system(error, at)
    duckdb = sys.modules.get("duckdb")  # who did not import it has none of its errors
    if duckdb is not None and isinstance(error, duckdb.Error):
        return _of_duckdb(error, duckdb, at)
    return None


def _of_system(error: OSError, at: str) -> str | None:
    if error.errno is None:
        return None
    where = error.filename2 or error.filename or at
    if isinstance(where, bytes):
        where = where.decode(errors="replace")
    reason = error.strerror or "cannot be used"
    return f"{where}: {reason}. {_DO.get(error.errno, _KEPT)}"


def _of_duckdb(error: Exception, duckdb: object, at: str) -> str:
    text = str(error)
    said = text.splitlines()[0] if text else type(error).__name__
    kinds = {
        name: getattr(duckdb, name) for name in ("CatalogException", "BinderException")
    }
    if isinstance(error, tuple(kinds.values())):
        return (
            f"{at}: was made by another version of agentlake ({said}). Run"
            " `agentlake load` with this one: it brings the file up to date and loses"
            " nothing."
        )
    if "No space left" in text or "Disk quota" in text:
        return f"{at}: the disk is full. {_DO[errno.ENOSPC]}"
    if "Permission denied" in text or "Read-only file system" in text:
        return f"{at}: cannot be written to. {_DO[errno.EACCES]}"
    if "Out of Memory" in text:
        return f"{at}: DuckDB's memory was not enough ({said}). {_KEPT}"
    return (
        f"{at}: DuckDB stopped: {said}. {_KEPT} If it happens again, see `agentlake"
        " doctor`."
    )
