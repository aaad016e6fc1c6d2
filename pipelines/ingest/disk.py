"""What a source looks like from outside, asked again and again at little cost.

Names are listed anew when a folder changed, and once a minute anyway. A file that
nobody has written to for a day is frozen: of many such, each look stats some, in turn,
for an appended line does not change the folder. One that changed is looked at every
time until it has been quiet for a day again.
"""

import errno
import os
import time
from collections.abc import Collection, Iterator, Mapping

import msgspec
import xxhash

from agentlake.adapters.sdk.contract import Stream
from agentlake.adapters.sdk.scan import folders_below, folders_in, within
from agentlake.pipelines.ingest.listing import SourcePlan, list_streams
from agentlake.pipelines.ingest.signature import Signature, signature_of

FROZEN_AFTER_S = 86_400.0
FROZEN_AT_ONCE = 2_500
"""Frozen files that one look stats: 50,000 are seen in twenty looks."""
LIST_EVERY_S = 60.0
_FREEZE = frozenset(
    {"jsonl", "document", "json_document"}
)  # a database is written to beside its file
_UNTOLD_NS = 600 * 10**9
"""How often a stream is loaded of which only its adapter can tell what is new."""
_COARSE_NS = 2 * 10**9
"""How coarse the times of folders may be: FAT counts in two seconds."""


class Seen(msgspec.Struct, frozen=True, gc=False):
    """One stream, from outside; `looks` stands for its path and its signature."""

    looks: int
    size: int
    mtime_ns: int


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """All streams of a source as they look now, by name (`name_of`)."""

    source: str
    parser_version: int
    streams: Mapping[int, Seen]
    whole: int
    """The `looks` of all streams together; equal means that nothing changed."""
    in_the_way: tuple[str, ...] = ()
    """What could not be looked at, a sentence each."""


def name_of(source: str, key: str) -> int:
    """A short name of a stream, for records that are kept by the hundred."""
    return xxhash.xxh3_64_intdigest(f"{source}\0{key}".encode(errors="replace"))


def look_at(stream: Stream, path: str) -> Signature:
    """The stream's signature; of one that has no file, a new one now and then.

    Raises OSError.
    """
    found = signature_of(path, stream.reader)
    if stream.reader == "own" and not found.device:
        at = found.mtime_ns // _UNTOLD_NS * _UNTOLD_NS
        return msgspec.structs.replace(found, mtime_ns=at)
    return found


class _Entry(msgspec.Struct, gc=False):
    stream: Stream
    path: str
    signature: Signature | int | None = None  # an int is the number of an error
    seen: Seen | None = None


class Disk:
    """One source's part of the disk, remembered from one look to the next."""

    def __init__(self, plan: SourcePlan) -> None:
        self.plan = plan
        self._source = plan.adapter.SOURCE
        self._entries: dict[int, _Entry] = {}
        self._names: dict[str, int] = {}  # by path
        self._streams: dict[int, Seen] = {}
        self._whole = 0
        self._in_the_way: tuple[str, ...] = ()
        self._hot: set[int] = set()
        self._turn: list[int] = []
        self._at = 0
        self._folders: dict[str, int] = {}
        self._listed_at = float("-inf")

    def look(self, now: float, touched: Collection[str] = ()) -> Look:
        """How the source looks now; `touched` are paths known to have changed."""
        changed = {
            path for path, mtime in self._folders.items() if _mtime(path) != mtime
        }
        due = set(self._hot)
        if changed or not 0 <= now - self._listed_at < LIST_EVERY_S:
            due |= self._list(now)
            due |= {
                name
                for path, name in self._names.items()
                if changed and path.rpartition(os.sep)[0] in changed
            }
        due |= {self._names[path] for path in touched if path in self._names}
        due.update(self._turn[self._at : self._at + FROZEN_AT_ONCE])
        self._at += FROZEN_AT_ONCE
        if self._at >= len(self._turn):
            self._at = 0
        hot_since = (now - FROZEN_AFTER_S) * 1e9
        for name in due:
            self._stat(name, hot_since)
        return Look(
            source=self._source,
            parser_version=self.plan.adapter.PARSER_VERSION,
            streams=self._streams,
            whole=self._whole,
            in_the_way=self._in_the_way,
        )

    def concerns(self, path: str, *, is_new: bool) -> bool:
        """Whether something at this path changed that a look may find.

        `is_new` says that it came or went; then only a listing can tell.
        """
        beside = path.removesuffix("-wal").removesuffix("-shm").removesuffix("-journal")
        return is_new or path in self._names or beside in self._names

    def keys(self, names: Collection[int]) -> set[str]:
        """The keys of the streams of these names."""
        return {self._entries[name].stream.key for name in names}

    def names(self, paths: Collection[str]) -> set[int]:
        """The names of the streams at these paths, spelled as in the warehouse."""
        wanted = set(paths)
        return {
            name
            for name, entry in self._entries.items()
            if wanted and entry.stream.path in wanted
        }

    def _list(self, now: float) -> set[int]:
        """List all names again; those that are new or lie elsewhere now."""
        with within([str(root) for root in self.plan.roots]):
            folders = {path: _mtime(path) for path in self._below()}  # before listing
        entries: dict[int, _Entry] = {}
        new: set[int] = set()
        listing = list_streams(self.plan)
        self._in_the_way = listing.in_the_way
        for path, stream in listing.streams:
            name = name_of(self._source, stream.key)
            known = self._entries.get(name)
            if known is None or known.path != path:
                new.add(name)
                known = _Entry(stream, path)
            entries[name] = known
        for name in [
            name for name in self._streams if name in new or name not in entries
        ]:
            self._forget(name)
        self._hot &= entries.keys()
        self._entries = entries
        self._names = {entry.path: name for name, entry in entries.items()}
        self._turn = list(entries)
        self._at = 0
        # What changed just now may change again without its time moving on.
        recent = time.time_ns() - _COARSE_NS
        self._folders = {
            path: mtime if mtime < recent else -1 for path, mtime in folders.items()
        }
        self._listed_at = now
        return new

    def _below(self) -> Iterator[str]:
        """The folders in which a stream may appear, as far as that can be known.

        Those right below a root, and everything below those that hold streams. What
        appears elsewhere is found by the listing of every minute.
        """
        holding = {path.rpartition(os.sep)[0] + os.sep for path in self._names}
        for root in self.plan.roots:
            yield str(root)
            for child in folders_in(str(root)):
                yield child
                below = child + os.sep
                if not holding or any(path.startswith(below) for path in holding):
                    yield from folders_below(child)

    def _stat(self, name: int, hot_since: float) -> None:
        entry = self._entries.get(name)
        if entry is None:
            return
        found: Signature | int
        try:
            found = look_at(entry.stream, entry.path)
        except OSError as error:
            found = error.errno or errno.EIO
        if name not in self._streams or _differs(found, entry.signature):
            self._forget(name)
            entry.signature = found
            if found not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                self._remember(name, entry, found)
        seen = self._streams.get(name)
        if seen is None:
            self._hot.discard(name)
        elif seen.mtime_ns > hot_since or entry.stream.reader not in _FREEZE:
            self._hot.add(name)
        else:
            self._hot.discard(name)

    def _remember(self, name: int, entry: _Entry, found: Signature | int) -> None:
        told = found if isinstance(found, int) else found.digestible
        text = f"{name}\0{entry.stream.path}\0{told}".encode(errors="replace")
        looks = xxhash.xxh3_64_intdigest(text) or 1  # 0 stands for: not loaded
        if isinstance(found, int):
            seen = Seen(looks, 0, time.time_ns())
        else:
            seen = Seen(looks, found.size, found.changed_ns)
        self._streams[name] = seen
        self._whole ^= looks

    def _forget(self, name: int) -> None:
        if (seen := self._streams.pop(name, None)) is not None:
            self._whole ^= seen.looks


def _differs(found: Signature | int, old: Signature | int | None) -> bool:
    if isinstance(found, Signature) and isinstance(old, Signature):
        return not found.is_unchanged(old)
    return found != old


def _mtime(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116 - by the thousand
    except OSError:
        return 0
