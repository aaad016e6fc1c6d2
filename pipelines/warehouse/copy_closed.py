"""Copy a closed DuckDB file over another one, of which readers see the old or the new.

Run as a script, in a process of its own (`publish.py` does): who closes a file drops
all locks that his process has on it, and the process that asks may hold the database
open. So nothing of agentlake is imported here.

The copy is, whichever is possible and costs least: a reflink; or the spare, which is
the copy before the last one, with those blocks written that differ, if nobody has it
open; or a plain copy. It is whole and on the disk before one rename gives it the name.
Whatever kills this process, its leftovers have fixed names, and the next one, alone by
a lock, uses or removes them.
"""

import fcntl
import os
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path

BUSY = 75
"""The exit code when somebody writes to the source, and will publish it after that."""
NOT_CLOSED = 76
"""The exit code when a part of the source stands in its log only."""

CLOSED = "closed"
"""How to copy: nobody may write to the source meanwhile, which a lock ensures."""
HELD = "held"
"""The same, but the process that asks has the lock; it waits and does not write."""
ONCE = "once"
"""As a closed one, and never over a copy that is there, whatever its state."""

_FICLONE = 0x40049409  # of linux/fs.h; Python does not name it
_CHUNK = 256 << 10  # a block of DuckDB
_STEP_S = 0.05


def guard_of(target: Path) -> Path:
    """Locked by who makes the copy; says how many seconds the last one took."""
    return target.with_name(f".{target.name}.copying")


def spare_of(target: Path) -> Path:
    """Where the next copy is made."""
    return target.with_name(f".{target.name}.spare")


def log_of(file: Path) -> Path:
    """What DuckDB keeps beside a file that is, or was when it was killed, written."""
    return Path(f"{file}.wal")


def is_done(source: Path, target: Path) -> bool:
    """Whether the target is a copy of the source as it is now; reads neither.

    Not if anything is left beside it by a process that was killed, or that wrote.
    """
    try:
        one, other = source.stat(), target.stat()
    except FileNotFoundError:
        return False
    same = (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)
    return same and not log_of(target).exists() and not _old(target).exists()


def copy(source: Path, target: Path, wait_s: float, how: str, asker: int) -> int:
    """Make the copy, unless there is one; the exit code."""
    with os.fdopen(_own_file(guard_of(target)), "r+") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        _tidy(target)
        if is_done(source, target) or (how == ONCE and target.exists()):
            return 0
        start = time.monotonic()
        code = _copy(source, target, wait_s, how, asker)
        if code == 0:
            guard.truncate(0)
            guard.write(f"{time.monotonic() - start:.6f}")
    return code


def _old(target: Path) -> Path:
    """The copy that gives way, until it is the spare."""
    return target.with_name(f".{target.name}.old")


def _tidy(target: Path) -> None:
    """End what somebody was killed in."""
    old = _old(target)
    if old.exists():
        if spare_of(target).exists() or old.samefile(target):
            old.unlink()
        else:
            old.rename(spare_of(target))


def _copy(source: Path, target: Path, wait_s: float, how: str, asker: int) -> int:
    spare = spare_of(target)
    with source.open("rb", buffering=0) as read:
        if how != HELD and not _locked(read.fileno(), wait_s):
            return BUSY
        if log_of(source).exists():
            return NOT_CLOSED
        status = os.fstat(read.fileno())
        write = _unshared(spare)
        try:
            is_clone = _cloned(read.fileno(), write)
            if not is_clone:
                _patch(read.fileno(), write, status.st_size)
            os.utime(write, ns=(status.st_atime_ns, status.st_mtime_ns))
            os.fsync(write)
        finally:
            os.close(write)
    if how == HELD and os.getppid() != asker:  # it was killed, and its lock is gone
        return BUSY
    _swap(spare, target, keep_old=not is_clone)
    return 0


def _locked(file: int, wait_s: float) -> bool:
    """Keep writers off: the lock is the one that DuckDB's readers have."""
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > deadline:
                return False
            time.sleep(_STEP_S)
        else:
            return True


def _unshared(spare: Path) -> int:
    """The spare, open for writing; a new one if anybody has it open."""
    file = _own_file(spare)
    if not _is_ours_alone(file):
        os.close(file)
        spare.unlink()
        file = os.open(spare, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    return file


def _own_file(path: Path) -> int:
    """A file of ours, open for reading and writing, made if it is not there.

    A link, a pipe or anything else that stands at its name is removed, never followed:
    what is written would end in a file of somebody's.
    """
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            path.unlink()
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)


def _is_ours_alone(file: int) -> bool:
    """Whether nobody else has it open: only then is a lease to be had."""
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except (OSError, AttributeError):  # in use, or a system that cannot tell
        return False
    return True


def _cloned(read: int, write: int) -> bool:
    """Whether the file system could let both files share their blocks."""
    try:
        fcntl.ioctl(write, _FICLONE, read)
    except OSError:
        return False
    os.ftruncate(write, os.fstat(read).st_size)  # the spare was longer
    return True


def _patch(read: int, write: int, size: int) -> None:
    """Write what differs; with an empty file, everything."""
    new, old = bytearray(_CHUNK), bytearray(_CHUNK)
    for at in range(0, size, _CHUNK):
        length = os.preadv(read, [new], at)
        if os.preadv(write, [old], at) != length or new != old:
            os.pwrite(write, memoryview(new)[:length], at)
    os.ftruncate(write, size)


def _swap(spare: Path, target: Path, *, keep_old: bool) -> None:
    """Give the copy its name; the old one becomes the spare, where that pays."""
    if keep_old:
        with suppress(OSError):  # no copy yet, or no hard links here
            os.link(target, _old(target))
    # A log beside the old copy is of somebody who wrote into it. The new one has none.
    log_of(target).unlink(missing_ok=True)
    spare.replace(target)
    _tidy(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def main(source: str, target: str, wait_s: str, how: str, asker: str) -> int:
    """What the script does. A full disk, for example, is told on stderr."""
    os.umask(0o077)
    try:
        return copy(Path(source), Path(target), float(wait_s), how, int(asker))
    except OSError as error:
        sys.stderr.write(f"{error.filename or target}: {error.strerror}")
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
