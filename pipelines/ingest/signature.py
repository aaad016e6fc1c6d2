"""What a stream looks like from outside; unchanged means: nothing to read."""

import errno
import os
import stat
import time
import zlib
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from agentlake.adapters.sdk.readers.live import Fingerprint


class Signature(msgspec.Struct, frozen=True):
    """Device, inode, size and modification time of a file.

    A database changes without its file: what else tells of it is in `beside`.
    """

    device: int
    inode: int
    size: int
    mtime_ns: int
    beside: str | None = None
    """For a database: `live.Fingerprint` as JSON."""

    def is_same_file(self, other: "Signature") -> bool:
        """Whether both were taken of one file, whatever was written to it since."""
        return (self.device, self.inode) == (other.device, other.inode)

    def is_unchanged(self, old: "Signature | None") -> bool:
        """Whether nothing was written since `old` was taken."""
        if old is None or self.file != old.file:
            return False
        if self.beside is None or old.beside is None:
            return self.beside == old.beside
        return _fingerprint(self.beside).same(_fingerprint(old.beside), self.mtime_ns)

    @property
    def file(self) -> tuple[int, int, int, int]:
        """What the file system says of the file itself."""
        return self.device, self.inode, self.size, self.mtime_ns

    @property
    def changed_ns(self) -> int:
        """When it was last written to, the log of a database included."""
        if self.beside is None:
            return self.mtime_ns
        wal = _fingerprint(self.beside).wal
        return max(self.mtime_ns, wal[3] if wal else 0)

    @property
    def digestible(self) -> str:
        """All of it as text, without the moment at which it was taken."""
        if self.beside is None:
            return repr(self.file)
        fingerprint = _fingerprint(self.beside)
        return repr((self.file, msgspec.structs.replace(fingerprint, taken_ns=0)))


def signature_of(path: str, reader: str = "jsonl") -> Signature:
    """The signature of a stream; of a database, some bytes of its files are read.

    Raises OSError, also for what is no plain file: reading a pipe would wait for ever.
    """
    beside = None
    if reader == "sqlite" or (reader == "own" and _has_log(path)):
        # Imported where a source needs it: most loads find no database.
        from agentlake.adapters.sdk.readers import live

        beside = msgspec.json.encode(live.fingerprint_of(path)).decode()
    elif reader == "own" and not os.path.exists(path):  # noqa: PTH110
        # No file: whether there is news, only its adapter can tell.
        return Signature(0, zlib.crc32(path.encode()), 0, time.time_ns())
    found = os.stat(path)  # noqa: PTH116 - 50,000 Path objects cost more than the stats
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a plain file", path)
    return Signature(
        found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, beside
    )


def _has_log(path: str) -> bool:
    """Whether it is a database that is, or was, written to without its file."""
    return os.path.exists(f"{path}-wal")  # noqa: PTH110


def _fingerprint(text: str) -> "Fingerprint":
    from agentlake.adapters.sdk.readers import live

    return msgspec.json.decode(text, type=live.Fingerprint)
