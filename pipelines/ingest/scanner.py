"""Scan a source's files again and again, from outside and at little cost.

Folders are listed anew when one changed, and once a minute anyway. A file that nobody
has written to for a day is frozen: each scan stats some of them, in turn, because an
appended line does not change the folder. One that changed is stat-ed by every scan
until it has been quiet for a day again.
"""

import errno
import os
import time
from collections.abc import Collection, Iterator, Mapping

import msgspec
import xxhash

from agentlake.adapters.sdk.contract import Stream
from agentlake.adapters.sdk.scan import folders_below, folders_in, within
from agentlake.pipelines import timing
from agentlake.pipelines.ingest.listing import Listing, SourcePlan, list_streams
from agentlake.pipelines.ingest.signature import Signature, signature_of

FROZEN_AT_ONCE = 2_500
"""Frozen files that one scan stats: twenty scans see 50,000."""
_FREEZE = frozenset(
    {"jsonl", "document", "json_document"}
)  # a database is written to beside its file
_UNTOLD_NS = int(timing.UNTOLD_S * 1e9)
_COARSE_NS = 2 * 10**9
"""How coarse the times of folders may be: FAT counts in two seconds."""


class StreamState(msgspec.Struct, frozen=True, gc=False):
    """One stream, from outside."""

    fingerprint: int
    """A digest of its path and its signature."""
    size: int
    mtime_ns: int


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """All streams of a source as one scan found them, by stream id."""

    source: str
    parser_version: int
    streams: Mapping[int, StreamState]
    fingerprint: int
    """That of all streams together; equal means that nothing changed."""
    in_the_way: tuple[str, ...] = ()
    """What could not be looked at, a sentence each."""


def signature_now(stream: Stream, path: str) -> Signature:
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


class Scanner:
    """One source's files, remembered from one scan to the next."""

    def __init__(self, plan: SourcePlan) -> None:
        self.plan = plan
        self._source = plan.adapter.SOURCE
        self._entries: dict[int, _Entry] = {}
        self._by_path: dict[str, int] = {}
        self._streams: dict[int, StreamState] = {}
        self._fingerprint = 0
        self.listing = Listing()
        """What the last listing found."""
        self._hot: set[int] = set()
        self._turn: list[int] = []
        self._at = 0
        self._folders: dict[str, int] = {}
        self.listed_at = float("-inf")

    def scan(self, now: float, touched: Collection[str] = ()) -> Snapshot:
        """The source as it is now; `touched` are paths known to have changed."""
        changed = {
            path for path, mtime in self._folders.items() if _mtime(path) != mtime
        }
        due = set(self._hot)
        if changed or not 0 <= now - self.listed_at < timing.LIST_EVERY_S:
            due |= self._list(now)
            due |= {
                id_
                for path, id_ in self._by_path.items()
                if changed and path.rpartition(os.sep)[0] in changed
            }
        due |= {self._by_path[path] for path in touched if path in self._by_path}
        due.update(self._turn[self._at : self._at + FROZEN_AT_ONCE])
        self._at += FROZEN_AT_ONCE
        if self._at >= len(self._turn):
            self._at = 0
        hot_since = (now - timing.FROZEN_AFTER_S) * 1e9
        for id_ in due:
            self._stat(id_, hot_since)
        return Snapshot(
            source=self._source,
            parser_version=self.plan.adapter.PARSER_VERSION,
            streams=self._streams,
            fingerprint=self._fingerprint,
            in_the_way=self.listing.in_the_way,
        )

    def concerns(self, path: str, *, is_new: bool) -> bool:
        """Whether a scan may find what changed at this path.

        `is_new` says that it came or went; then only a listing can tell.
        """
        beside = path.removesuffix("-wal").removesuffix("-shm").removesuffix("-journal")
        return is_new or path in self._by_path or beside in self._by_path

    def keys(self, ids: Collection[int]) -> set[str]:
        """The keys of these streams."""
        return {self._entries[id_].stream.key for id_ in ids}

    def ids(self, paths: Collection[str]) -> set[int]:
        """The streams at these paths, spelled as in the warehouse."""
        wanted = set(paths)
        return {
            id_
            for id_, entry in self._entries.items()
            if wanted and entry.stream.path in wanted
        }

    def _list(self, now: float) -> set[int]:
        """List all streams again; those that are new or lie elsewhere now."""
        with within([str(root) for root in self.plan.roots]):
            folders = {path: _mtime(path) for path in self._below()}  # before listing
        entries: dict[int, _Entry] = {}
        new: set[int] = set()
        self.listing = list_streams(self.plan)
        for id_, (path, stream) in self.listing.streams.items():
            known = self._entries.get(id_)
            if known is None or known.path != path:
                new.add(id_)
                known = _Entry(stream, path)
            entries[id_] = known
        for id_ in [id_ for id_ in self._streams if id_ in new or id_ not in entries]:
            self._forget(id_)
        self._hot &= entries.keys()
        self._entries = entries
        self._by_path = {entry.path: id_ for id_, entry in entries.items()}
        self._turn = list(entries)
        self._at = 0
        # What changed just now may change again without its time moving on.
        recent = time.time_ns() - _COARSE_NS
        self._folders = {
            path: mtime if mtime < recent else -1 for path, mtime in folders.items()
        }
        self.listed_at = now
        return new

    def _below(self) -> Iterator[str]:
        """The folders in which a stream may appear, as far as that can be known.

        Those right below a root, and everything below those that hold streams. What
        appears elsewhere is found by the listing of every minute.
        """
        holding = {path.rpartition(os.sep)[0] + os.sep for path in self._by_path}
        for root in self.plan.roots:
            yield str(root)
            for child in folders_in(str(root)):
                yield child
                below = child + os.sep
                if not holding or any(path.startswith(below) for path in holding):
                    yield from folders_below(child)

    def _stat(self, id_: int, hot_since: float) -> None:
        entry = self._entries.get(id_)
        if entry is None:
            return
        found: Signature | int
        try:
            found = signature_now(entry.stream, entry.path)
        except OSError as error:
            found = error.errno or errno.EIO
        if id_ not in self._streams or _differs(found, entry.signature):
            self._forget(id_)
            entry.signature = found
            if found not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                self._remember(id_, entry, found)
        state = self._streams.get(id_)
        if state is None:
            self._hot.discard(id_)
        elif state.mtime_ns > hot_since or entry.stream.reader not in _FREEZE:
            self._hot.add(id_)
        else:
            self._hot.discard(id_)

    def _remember(self, id_: int, entry: _Entry, found: Signature | int) -> None:
        digest = found if isinstance(found, int) else found.digestible
        text = f"{id_}\0{entry.stream.path}\0{digest}".encode(errors="replace")
        fingerprint = xxhash.xxh3_64_intdigest(text) or 1  # 0 stands for: not loaded
        if isinstance(found, int):
            state = StreamState(fingerprint, 0, time.time_ns())
        else:
            state = StreamState(fingerprint, found.size, found.changed_ns)
        self._streams[id_] = state
        self._fingerprint ^= fingerprint

    def _forget(self, id_: int) -> None:
        if (state := self._streams.pop(id_, None)) is not None:
            self._fingerprint ^= state.fingerprint


def _differs(found: Signature | int, old: Signature | int | None) -> bool:
    if isinstance(found, Signature) and isinstance(old, Signature):
        return not found.is_unchanged(old)
    return found != old


def _mtime(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116 - by the thousand
    except OSError:
        return 0
