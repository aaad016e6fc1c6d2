"""Decide what has to be read: what is on disk, compared with the checkpoints.

Everything here looks from outside: directories are listed, files are stat-ed, and
nothing is opened.
"""

import errno
import time
from collections.abc import Collection, Sequence

import msgspec

from agentlake.adapters.sdk.contract import Adapter, Options, Reader, Stream
from agentlake.adapters.sdk.scan import log_is_alone
from agentlake.pipelines import timing
from agentlake.pipelines.ingest.checkpoint import (
    Checkpoint,
    checkpoints,
    new_checkpoint,
)
from agentlake.pipelines.ingest.listing import Listing, SourcePlan
from agentlake.pipelines.ingest.signature import Signature, signature_of
from agentlake.pipelines.warehouse.connect import Connection

_DATABASES = ("sqlite", "own")
_LOG_ALONE = "only its write-ahead log is there, which cannot be read without it"


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """One stream to be read on, and what was known of it before."""

    adapter: Adapter
    stream: Stream
    path: str
    """Where it is opened: the stream's own path is the one that can be stored."""
    signature: Signature
    checkpoint: Checkpoint
    settled: bool
    roots: Sequence[str] = ()
    """Where links may lead."""
    options: Options = {}


class Found(msgspec.Struct, kw_only=True):
    """What a source has on disk, compared with its checkpoints."""

    streams: int = 0
    listing: Listing
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


def compare(
    connection: Connection,
    plan: SourcePlan,
    listing: Listing,
    load_id: int,
    only: Collection[int] | None = None,
) -> Found:
    """Compare the source's streams on disk with their checkpoints.

    `only` limits it to these streams; the others are not even stat-ed.
    """
    source, version = plan.adapter.SOURCE, plan.adapter.PARSER_VERSION
    streams = listing.streams
    if only is not None:
        streams = {id_: one for id_, one in streams.items() if id_ in only}
    known = checkpoints(connection, source, None if only is None else streams)
    found = Found(
        streams=len(streams),
        listing=listing,
        outdated=any(
            item.records and item.parser_version != version for item in known.values()
        ),
    )
    seen: set[tuple[int, int]] = set()
    for id_, (path, stream) in streams.items():
        before = known.get(id_) or new_checkpoint(source, stream, load_id)
        signature = _signature(found, before, path, stream.reader)
        if signature is None or (signature.device, signature.inode) in seen:
            continue  # unreadable, or one file under two names
        seen.add((signature.device, signature.inode))
        settled = signature.mtime_ns / 1e9 < time.time() - timing.SETTLED_AFTER_S
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
                    roots=[str(root) for root in plan.roots],
                    options=plan.options,
                )
            )
            continue
        if before.status == "waiting":
            found.waiting.append(stream.path)
        if before.path != stream.path or before.missing_since is not None:
            found.moved.append((before, stream.path))
    if only is None:
        found.missing = [
            item
            for id_, item in known.items()
            if id_ not in streams
            and item.missing_since is None
            and not listing.hides(item.path)
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
        if reader in _DATABASES and log_is_alone(path):
            found.unreadable.append((before, _LOG_ALONE))
        return None
    except OSError as error:
        if error.errno != errno.ELOOP:
            found.unreadable.append((before, error.strerror or str(error)))
        return None
