"""Copy a closed DuckDB file over another one, of which readers see the old or the new.

Run as a script, in a process of its own (`publish.py` does): who closes a file drops
all locks that his process has on it, and the process that asks may hold the database
open. So nothing of agentlake is imported here.

The copy is, whichever is possible and costs least:

* a clone that shares its blocks with the source, where the file system can do that;
* the old copy itself, brought one checkpoint further: the blocks that DuckDB has
  written since are free in the old state, so whoever reads that is not disturbed, and
  it counts until the new header is written. So nothing is copied but what changed. Not
  if anybody has the old copy open: the second of two such steps could take a block
  from under him. A mark tells that a step was begun: after one that did not end, blocks
  are compared whole, for half of one may have been written;
* a plain copy, whole and on the disk before one rename gives it the name.

Whatever kills this process, its leftovers have fixed names, and the next one, alone by
a lock, removes them.
"""

import fcntl
import os
import stat
import struct
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
_CHUNK = 1 << 20
# DuckDB's file: a header for ever, two that take turns, then blocks, each of which
# begins with its checksum.
_HEADER = 4 << 10
_TURNS = (_HEADER, 2 * _HEADER)
_FIRST_BLOCK = 3 * _HEADER
_BLOCK = 256 << 10
_CHECKSUM = 8
_ITERATION = struct.Struct("<8xQ")  # counts the checkpoints
_BLOCK_SIZE = struct.Struct("<40xQ")
_STEP_S = 0.05


def guard_of(target: Path) -> Path:
    """Locked by who makes the copy; says how many seconds the last one took."""
    return target.with_name(f".{target.name}.copying")


def new_of(target: Path) -> Path:
    """Where the next copy is made, if it is a file of its own."""
    return target.with_name(f".{target.name}.new")


def mark_of(target: Path) -> Path:
    """There while the target itself is written to, and after that if that failed."""
    return target.with_name(f".{target.name}.stepping")


def log_of(file: Path) -> Path:
    """What DuckDB keeps beside a file that is, or was when it was killed, written."""
    return Path(f"{file}.wal")


def is_done(source: Path, target: Path) -> bool:
    """Whether the target is a copy of the source as it is now; reads neither.

    Not if anything is left beside it by a process that was killed, or that wrote. A
    source that shrank has a copy with a useless end.
    """
    if mark_of(target).exists():
        return False
    try:
        one, other = source.stat(), target.stat()
    except FileNotFoundError:
        return False
    same = one.st_mtime_ns == other.st_mtime_ns and one.st_size <= other.st_size
    return same and not log_of(target).exists()


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


def _tidy(target: Path) -> None:
    """Remove what somebody was killed in, or an earlier version kept."""
    for end in ("new", "spare", "old"):
        target.with_name(f".{target.name}.{end}").unlink(missing_ok=True)


def _copy(source: Path, target: Path, wait_s: float, how: str, asker: int) -> int:
    new = new_of(target)
    with source.open("rb", buffering=0) as read:
        if how != HELD and not _locked(read.fileno(), wait_s):
            return BUSY
        if log_of(source).exists():
            return NOT_CLOSED
        status = os.fstat(read.fileno())
        if not _cloned(source, read.fileno(), new):
            if how == CLOSED and _stepped(read.fileno(), target, status):
                return 0
            _filled(read.fileno(), new, status.st_size)
        _stamp(new, status)
    if how == HELD and os.getppid() != asker:  # it was killed, and its lock is gone
        return BUSY
    # A log beside the old copy is of somebody who wrote into it. The new one has none.
    log_of(target).unlink(missing_ok=True)
    new.replace(target)
    mark_of(target).unlink(missing_ok=True)
    keep(target.parent)
    return 0


def keep(path: Path) -> None:
    """Have a file or a folder on the disk before anything depends on it."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


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


def _cloned(source: Path, read: int, new: Path) -> bool:
    """Whether the file system could let both files share their blocks."""
    if sys.platform == "darwin":
        import ctypes

        clone = ctypes.CDLL(None).clonefile  # Python does not have it
        return clone(os.fsencode(source), os.fsencode(new), 0) == 0
    write = _own_file(new)
    try:
        fcntl.ioctl(write, _FICLONE, read)
    except OSError:
        new.unlink()
        return False
    finally:
        os.close(write)
    return True


def _filled(read: int, new: Path, size: int) -> None:
    """Copy everything, without a way through this process where that is possible."""
    write = _own_file(new)
    at = 0
    try:
        while at < size:
            try:
                copied = os.copy_file_range(read, write, size - at, at, at)
            except (OSError, AttributeError):  # a full disk says so below, too
                copied = 0
            at += copied or _put(write, os.pread(read, _CHUNK, at), at)
    finally:
        os.close(write)


def _put(write: int, data: bytes, at: int) -> int:
    """Write all of it, however little is taken at a time."""
    done = 0
    while done < len(data):
        done += os.pwrite(write, memoryview(data)[done:], at + done)
    return done


def _stamp(new: Path, status: os.stat_result) -> None:
    """Give the copy the source's time, by which it is known; have it on the disk."""
    write = os.open(new, os.O_RDWR)
    try:
        os.utime(write, ns=(status.st_atime_ns, status.st_mtime_ns))
        os.fsync(write)
    finally:
        os.close(write)


def _stepped(read: int, target: Path, status: os.stat_result) -> bool:
    """Whether the old copy was one checkpoint behind, and could be brought further.

    A name that others link to stays what it is: it may be somebody's back-up.
    """
    if log_of(target).exists() or not target.exists():
        return False
    write = os.open(target, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        is_single = os.fstat(write).st_nlink == 1
        turn = _next_turn(read, write)
        if turn is None or not is_single or not _is_ours_alone(write):
            return False
        if not _locked(write, 0):  # against a program that opens it to write
            return False
        mark = mark_of(target)
        compared = _BLOCK if mark.exists() else _CHECKSUM
        os.close(_own_file(mark))
        keep(mark.parent)
        for at in range(_FIRST_BLOCK, status.st_size, _BLOCK):
            if os.pread(read, compared, at) != os.pread(write, compared, at):
                _put(write, os.pread(read, _BLOCK, at), at)
        os.fsync(write)
        _put(write, os.pread(read, _HEADER, turn), turn)
        os.utime(write, ns=(status.st_atime_ns, status.st_mtime_ns))
        os.fsync(write)
        mark.unlink()
    finally:
        os.close(write)
    return True


def _next_turn(read: int, write: int) -> int | None:
    """Where the source's header stands, if the target has the one before it."""
    one = {at: os.pread(read, _HEADER, at) for at in _TURNS}
    other = {at: os.pread(write, _HEADER, at) for at in _TURNS}
    if any(len(header) < _HEADER for header in (*one.values(), *other.values())):
        return None
    number = {at: _ITERATION.unpack_from(header)[0] for at, header in one.items()}
    new, old = sorted(_TURNS, key=number.__getitem__, reverse=True)
    is_next = (
        number[new] == number[old] + 1
        and other[old] == one[old]
        and _ITERATION.unpack_from(other[new])[0] < number[old]
        and os.pread(read, _HEADER, 0) == os.pread(write, _HEADER, 0)
        and _BLOCK_SIZE.unpack_from(one[new])[0] == _BLOCK
    )
    return new if is_next else None


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
