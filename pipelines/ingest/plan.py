"""Find what is on disk and decide what has to be read.

Everything here looks from outside: directories are listed, files are stat-ed, and
nothing is opened.
"""

import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import get_args

import msgspec

from agentlake.adapters.sdk.contract import Adapter, Options, Reader, Stream
from agentlake.adapters.sdk.run import guarded
from agentlake.errors import SourceError, did_you_mean
from agentlake.pipelines.ingest.checkpoint import (
    Checkpoint,
    checkpoints,
    new_checkpoint,
    stream_id,
)
from agentlake.pipelines.ingest.signature import Signature, signature_of
from agentlake.pipelines.warehouse.connect import Connection

SETTLED_AFTER_S = 3600
"""A last line without newline is taken once nobody has written for this long."""


READERS = frozenset(get_args(Reader))


class SourcePlan(msgspec.Struct, frozen=True, kw_only=True):
    """One source with the places where it is looked for."""

    adapter: Adapter
    roots: Sequence[Path]
    looked_in: Sequence[str] = ()
    options: Options = {}

    def streams(self) -> Iterator[Stream]:
        """What the adapter finds in all its places.

        A source without any is asked once: its settings say where to look. Raises
        SourceError.
        """
        places = [str(root) for root in self.roots] if self.adapter.ROOTS else [""]
        for place in places:
            make = partial(self.adapter.discover, place, self.options)
            for stream in guarded(self.adapter, make):
                if stream.reader not in READERS:
                    guess = did_you_mean(stream.reader, READERS)
                    msg = f"{stream.path}: unknown reader {stream.reader}.{guess}"
                    raise SourceError(msg)
                yield stream


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """One stream to be read on, and what was known of it before."""

    adapter: Adapter
    stream: Stream
    path: str
    """Where it is opened: the stream's own path is the one that can be stored."""
    signature: Signature
    checkpoint: Checkpoint
    settled: bool
    options: Options = {}


class Found(msgspec.Struct, kw_only=True):
    """What one look at a source gave."""

    streams: int = 0
    work: list[Work] = []
    unreadable: list[tuple[Checkpoint, str]] = []
    moved: list[tuple[Checkpoint, str]] = []
    """Unchanged streams and the path where they lie now."""
    waiting: list[str] = []
    """Paths of those that end in half a line still, and are left alone."""
    missing: list[Checkpoint] = []
    """Streams with a checkpoint that are no longer on disk."""
    outdated: bool = False
    """Some stream was parsed by another parser version: replay the source."""


Selects = Callable[[Stream], bool]


def look(
    connection: Connection,
    plan: SourcePlan,
    load_id: int,
    selects: Selects | None = None,
) -> Found:
    """Compare the source's streams on disk with their checkpoints.

    `selects` limits the look to some streams; the others are not even stat-ed.
    """
    source, version = plan.adapter.SOURCE, plan.adapter.PARSER_VERSION
    streams = {
        stream_id(source, stream.key): (path, stream)
        for path, stream in streams_on_disk(plan)
    }
    if selects is not None:
        streams = {key: one for key, one in streams.items() if selects(one[1])}
    known = checkpoints(connection, source, None if selects is None else streams)
    found = Found(
        streams=len(streams),
        outdated=any(
            item.records and item.parser_version != version for item in known.values()
        ),
    )
    seen: set[tuple[int, int]] = set()
    for number, (path, stream) in streams.items():
        before = known.get(number) or new_checkpoint(source, stream, load_id)
        signature = _signature(found, before, path, stream.reader)
        if signature is None or (signature.device, signature.inode) in seen:
            continue  # unreadable, or one file under two names
        seen.add((signature.device, signature.inode))
        settled = signature.mtime_ns / 1e9 < time.time() - SETTLED_AFTER_S
        is_waiting = before.status == "waiting"
        if not signature.is_unchanged(before.signature) or (settled and is_waiting):
            found.work.append(
                Work(
                    adapter=plan.adapter,
                    stream=stream,
                    path=path,
                    signature=signature,
                    checkpoint=before,
                    settled=settled,
                    options=plan.options,
                )
            )
            continue
        if before.status == "waiting":
            found.waiting.append(stream.path)
        if before.path != stream.path or before.missing_since is not None:
            found.moved.append((before, stream.path))
    if selects is None:
        found.missing = [
            item
            for number, item in known.items()
            if number not in streams and item.missing_since is None
        ]
    return found


def _signature(
    found: Found, before: Checkpoint, path: str, reader: Reader
) -> Signature | None:
    """The stream's signature; None, and the reason noted, if it cannot be taken.

    What went away since it was listed, and a link that leads nowhere, is none.
    """
    try:
        return signature_of(path, reader)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno != errno.ELOOP:
            found.unreadable.append((before, error.strerror or str(error)))
        return None


def streams_on_disk(plan: SourcePlan) -> Iterator[tuple[str, Stream]]:
    """The streams of all roots, and where each is opened.

    A key met again is told apart by its path. A name that is no UTF-8 is spelled out
    in the stream, for no table can hold it.
    """
    seen: set[str] = set()
    for stream in plan.streams():
        key, path = _spelled(stream.key), _spelled(stream.path)
        if key in seen:
            key = f"{key}@{path}"
        seen.add(key)
        if (key, path) == (stream.key, stream.path):
            yield stream.path, stream
        else:
            yield stream.path, Stream(path=path, key=key, reader=stream.reader)


def _spelled(name: str) -> str:
    r"""The name, with `\xff` for each byte that is no UTF-8."""
    if name.isascii():
        return name
    return os.fsencode(name).decode("utf-8", "backslashreplace")
