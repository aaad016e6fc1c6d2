"""Read the agents' files again and compare them with raw, for what no load has seen.

A load trusts what a file looks like from outside, and of a file that grew the bytes
at its start and before its old end. Whoever rewrites a file and puts its size and time
back, or changes a line in its middle and appends one, is not seen. Here all is read.
"""

from collections.abc import Iterator, Sequence

import msgspec

from agentlake.adapters.sdk.contract import Stream
from agentlake.adapters.sdk.readers import jsonl
from agentlake.adapters.sdk.scan import within
from agentlake.pipelines.ingest.checkpoint import Checkpoint, checkpoints
from agentlake.pipelines.ingest.listing import SourcePlan, list_streams
from agentlake.pipelines.ingest.plan import Work
from agentlake.pipelines.ingest.raw_stream import GONE, New
from agentlake.pipelines.ingest.read import pieces
from agentlake.pipelines.ingest.signature import Signature, signature_of
from agentlake.pipelines.warehouse.connect import Connection

_ANEW = msgspec.json.encode(jsonl.Cursor()).decode()
"""The cursor of a stream of lines that is read again, all known lines left out."""


class Unseen(msgspec.Struct, frozen=True, kw_only=True):
    """A record that its file has otherwise than raw."""

    path: str
    line: int | None
    """None: it is no line, but what has this key in its file."""
    key: str
    is_gone: bool


class Rechecked(msgspec.Struct, kw_only=True):
    """One source, compared."""

    source: str
    streams: int = 0
    """How many were read to the end."""
    unseen: list[Unseen] = []
    unreadable: list[tuple[str, str]] = []
    stream_ids: list[int] = []
    """Streams with records that no load has seen."""


def recheck(connection: Connection, plan: SourcePlan) -> Rechecked:
    """Read what was loaded of this source again. Nothing is changed.

    What the next load will find anyway is not told.
    """
    found = Rechecked(source=plan.adapter.SOURCE)
    known = checkpoints(connection, found.source)
    for id_, (path, stream) in list_streams(plan).streams.items():
        before = known.get(id_)
        if before is None or not before.records:
            continue
        try:
            with within([str(root) for root in plan.roots]):
                unseen = list(_unseen(connection, plan, before, (path, stream)))
        except FileNotFoundError:  # it was deleted just now
            continue
        except Exception as error:  # noqa: BLE001 - whatever a file or an adapter does
            found.unreadable.append((stream.path, str(error)))
            continue
        found.streams += 1
        found.unseen += unseen
        if unseen:
            found.stream_ids.append(id_)
    return found


def read_anew(connection: Connection, stream_ids: Sequence[int]) -> None:
    """Let the next load read these streams from their start; inside a transaction."""
    connection.execute(
        """
        update meta.streams
        set
            cursor = if(reader = 'jsonl', $anew, null),
            device = null,
            inode = null,
            size = null,
            mtime_ns = null,
            beside = null
        where stream_id in (select unnest($ids))
        """,
        {"anew": _ANEW, "ids": list(stream_ids)},
    )


def _unseen(
    connection: Connection,
    plan: SourcePlan,
    before: Checkpoint,
    place: tuple[str, Stream],
) -> Iterator[Unseen]:
    path, stream = place
    signature = signature_of(path, stream.reader)
    known = before.signature
    is_unchanged = known is not None and signature.digestible == known.digestible
    if not signature.device or not (is_unchanged or stream.reader == "jsonl"):
        return  # only its adapter can tell; or the next load looks at all of it
    work = Work(
        adapter=plan.adapter,
        stream=stream,
        path=path,
        signature=signature,
        checkpoint=msgspec.structs.replace(
            before, cursor=_cursors(before).get(stream.reader), signature=None
        ),
        settled=False,
        roots=[str(root) for root in plan.roots],
        options=plan.options,
    )
    end = None if is_unchanged else _end(before, signature)
    for piece in pieces(connection, work):
        for new in piece.records:
            if end is None or new.record.offset < end:
                yield _told(stream, new)


def _cursors(before: Checkpoint) -> dict[str, str | None]:
    """From where each kind of stream is read, so that all of it is compared."""
    return {"jsonl": _ANEW, "document": before.cursor}


def _end(before: Checkpoint, signature: Signature) -> int:
    """Up to where a file that grew was loaded; another one is read anew anyway."""
    known = before.signature
    if known is None or not known.is_same_file(signature) or not before.cursor:
        return 0
    return msgspec.json.decode(before.cursor, type=jsonl.Cursor).offset


def _told(stream: Stream, new: New) -> Unseen:
    return Unseen(
        path=stream.path,
        line=new.record.seq + 1 if stream.reader == "jsonl" else None,
        key=new.record.key,
        is_gone=new.content_hash == GONE,
    )
