"""Look at a SQLite database and read it, live or not, and leave no trace of it.

No way of opening one is right in every state: some miss what is in the log, some
give torn pages, some create files or block its owner. So the files are looked at
first, the way is chosen by what is there, and what was read counts only if the files
say afterwards that it was whole:

log with frames, and its index     opened read-only, index included: one snapshot
log with frames, no usable index   database, then log are copied, and the copy read
no log, or an empty one            opened as immutable, verified afterwards
a hot journal                      waited for; if it stays, copied and rolled back there

This process must have no other connection to the database: closing any handle of a
file drops all locks that the process holds on it.
"""

import contextlib
import functools
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from agentlake.adapters.sdk.files import content, open_plain
from agentlake.adapters.sdk.mounts import file_system_of

MOST_COPIED = 1 << 30
"""A database that can only be read as a copy is not, above this size."""
SHORT_S = 0.5
"""How long one snapshot of a live database should be held: its log grows meanwhile."""

_MAGIC = b"SQLite format 3\0"
_HEADER, _SHM, _WAL_HEADER = 100, 48, 32
_WAL = 2  # in bytes 18 and 19 of the header
_RACY_NS = 2_000_000_000
_TRIES = 8
_WAITS = {
    "journal": (4, "a transaction did not end"),
    "none": (_TRIES, "its file was cut off, or is empty beside a log that is not"),
}
"""How many tries wait for a better state, and what was in the way if none comes."""
_BUSY_S = 2.0
_CLONE = 0x40049409  # FICLONE: share the blocks instead of copying them
_PASSING = (
    "SQLITE_BUSY",
    "SQLITE_LOCKED",
    "SQLITE_CANTOPEN",
    "SQLITE_CORRUPT",
    "SQLITE_NOTADB",
    "SQLITE_READONLY",
    "SQLITE_PROTOCOL",
    "SQLITE_IOERR",
    "SQLITE_SCHEMA",
    "SQLITE_ERROR",
)
"""Errors that a moment between two states of the files gives; the next try may not."""
_NO_SHARED_MEMORY = ("9p", "cifs", "drvfs", "fuse", "nfs", "smb", "virtiofs", "vboxsf")
"""File systems whose other side does not see our locks, nor we its index."""

S = TypeVar("S")
T = TypeVar("T")


class Busy(OSError):
    """No whole snapshot could be had now; the next load tries again."""


class Fingerprint(msgspec.Struct, frozen=True, array_like=True):
    """What the files of a database look like from outside.

    Bytes are hexadecimal. `shm` is the part of the index that a commit changes, and
    no reader does.
    """

    taken_ns: int
    header: str
    wal: tuple[int, int, int, int] | None
    wal_header: str
    shm: str
    journal: tuple[int, int, int, int] | None
    is_hot: bool

    def same(self, old: "Fingerprint", mtime_ns: int) -> bool:
        """Whether nothing was committed since `old`, the database file being equal.

        `mtime_ns` is that of the file. Where there is no index to decide, a file
        written shortly before `old` was taken may have changed unseen: it did.
        """
        if (old.header, old.wal, old.wal_header, old.journal) != (
            self.header,
            self.wal,
            self.wal_header,
            self.journal,
        ):
            return False
        if old.shm and self.shm:
            return old.shm == self.shm
        newest = max(mtime_ns, old.wal[3] if old.wal else 0)
        return old.taken_ns - newest >= _RACY_NS


def fingerprint_of(path: str) -> Fingerprint:
    """How the files look now. In this order: what moves from the log is seen later."""
    journal, start = _stat(path + "-journal"), _head(path + "-journal", 1)
    shm = _head(path + "-shm", _SHM)
    wal, wal_header = _stat(path + "-wal"), _head(path + "-wal", _WAL_HEADER)
    return Fingerprint(
        time.time_ns(),
        _head(path, _HEADER).hex(),
        wal,
        wal_header.hex(),
        shm.hex(),
        journal,
        bool(journal and journal[2] and start not in (b"", b"\0")),
    )


def pages(
    path: str,
    page: Callable[[sqlite3.Connection, S], tuple[T, S | None]],
    start: S,
    *,
    most_copied: int = MOST_COPIED,
) -> Iterator[T]:
    """What `page` gives, called with `start` and then with the state it returned last.

    Each call sees one snapshot and should take about `SHORT_S`; it may be repeated
    with the same state, and gives None as the next one when it is done. A database
    of 0 bytes, which SQLite makes before it writes to one, has no page.
    Raises Busy, FileNotFoundError, or sqlite3.DatabaseError for what is no database.
    """
    state = start
    if _is_empty(*_state(path)):
        return
    with contextlib.ExitStack() as copies:
        copy: str | None = None
        while True:
            if copy is None:
                step = _once(path, page, state, copies, most_copied)
            else:
                step = (*_run(_uri(copy, mode="rw"), page, state), copy)
            given, following, copy = step
            yield given
            if following is None:
                return
            state = following


def _once(
    path: str,
    page: Callable[[sqlite3.Connection, S], tuple[T, S | None]],
    state: S,
    copies: contextlib.ExitStack,
    most_copied: int,
) -> tuple[T, S | None, str | None]:
    """One page in one snapshot, tried again until it is a whole one."""
    reason = "it changed during every try"
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(min(0.02 * 2**attempt, 1.0))
        file, before = _state(path)
        way = _way(path, file, before)
        waits, why = _WAITS.get(way, (0, ""))
        if attempt < waits:
            reason = why
            continue
        try:
            if way == "live":
                uri = _uri(path, mode="ro", readonly_shm=1)
                return *_run(uri, page, state), None
            if way == "immutable":
                done = _run(_uri(path, mode="ro", immutable=1), page, state)
                after_file, after = _state(path)
                is_same = (file, before.header) == (after_file, after.header)
                if is_same and _way(path, after_file, after) == "immutable":
                    return *done, None
            else:
                copy = _copy(path, way, (file, before), copies, most_copied)
                if copy is not None:
                    return *_run(_uri(copy, mode="rw"), page, state), copy
        except FileNotFoundError:
            reason = "a file of it went away"
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", None) or ""
            reason = f"{error} ({name})" if name else str(error)
            if not name.startswith(_PASSING):
                raise
    msg = f"{path}: no whole snapshot in {_TRIES} tries, the last time {reason}"
    raise Busy(msg)


def _state(path: str) -> tuple[tuple[int, int, int, int], Fingerprint]:
    fingerprint = fingerprint_of(path)
    file = _stat(path)
    if file is None:
        raise FileNotFoundError(2, "no such file", path)
    return file, fingerprint


def _is_empty(file: tuple[int, int, int, int], fingerprint: Fingerprint) -> bool:
    return not (file[2] or _has_frames(fingerprint) or fingerprint.is_hot)


def _has_frames(fingerprint: Fingerprint) -> bool:
    return fingerprint.wal is not None and fingerprint.wal[2] > _WAL_HEADER


def _way(path: str, file: tuple[int, int, int, int], fingerprint: Fingerprint) -> str:
    header = bytes.fromhex(fingerprint.header)
    if len(header) < _HEADER:
        return "none"
    if not header.startswith(_MAGIC):
        msg = "no SQLite database, or an encrypted one"
        raise sqlite3.DatabaseError(msg)
    if fingerprint.is_hot:
        return "journal"
    if _WAL not in header[18:20] or not _has_frames(fingerprint):
        return "immutable"
    if (
        len(fingerprint.shm) == 2 * _SHM
        and not _is_root()
        and _shares_memory(path, file[0])
    ):
        return "live"
    return "wal"


def _is_root() -> bool:
    """Opening a log as root hands it to the owner of the database: its times change."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


@functools.cache
def _shares_memory(path: str, device: int) -> bool:
    """Whether locks and mapped memory are those of the database's owner."""
    del device  # part of the key: another one may be mounted there later
    kind = file_system_of(os.path.realpath(path))
    return not (kind and kind.startswith(_NO_SHARED_MEMORY))


def _copy(
    path: str,
    way: str,
    before: tuple[tuple[int, int, int, int], Fingerprint],
    copies: contextlib.ExitStack,
    most_copied: int,
) -> str | None:
    """A whole copy of the database and its log or journal; None if it is torn."""
    file, fingerprint = before
    with contextlib.ExitStack() as torn:
        folder = torn.enter_context(tempfile.TemporaryDirectory(prefix="agentlake-"))
        copy = str(Path(folder, "copy.db"))
        for beside in ("", f"-{way}"):
            _clone(path + beside, copy + beside, most_copied)
        after_file, after = _state(path)
        is_same = file == after_file and all(
            getattr(fingerprint, name) == getattr(after, name)
            for name in ("header", "wal_header", "journal")
        )
        if not is_same:
            return None
        copies.push(torn.pop_all())
        return copy


def _clone(source: str, target: str, most: int) -> None:
    with open_plain(source) as there, Path(target).open("wb") as here:
        if sys.platform == "linux":
            import fcntl

            with contextlib.suppress(OSError):
                fcntl.ioctl(here.fileno(), _CLONE, there.fileno())
                return
        size = os.fstat(there.fileno()).st_size
        if size > most:
            msg = (
                f"{source}: {size:,} bytes can only be read as a copy, and at most"
                f" {most:,} are copied. It is read when its agent has closed it"
                " properly, or when agentlake runs as the agent's own user."
            )
            raise Busy(msg)
        shutil.copyfileobj(there, here, 1 << 20)


def _run(
    uri: str,
    page: Callable[[sqlite3.Connection, S], tuple[T, S | None]],
    state: S,
) -> tuple[T, S | None]:
    connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None)
    try:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.execute("pragma query_only = 1")
        connection.execute("begin")
        result = page(connection, state)
        connection.execute("commit")
        return result
    finally:
        connection.close()


def _uri(path: str, **options: object) -> str:
    """A URI, odd characters spelled out; a plain path would be opened to write."""
    query = "&".join(f"{name}={value}" for name, value in options.items())
    return f"{Path(os.path.abspath(path)).as_uri()}?{query}"  # noqa: PTH100 - links stay


def _stat(path: str) -> tuple[int, int, int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _head(path: str, size: int) -> bytes:
    try:
        return content(path, size)
    except FileNotFoundError:
        return b""
