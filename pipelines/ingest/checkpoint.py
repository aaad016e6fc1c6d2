"""What the warehouse remembers of each stream (`meta.streams`)."""

import hashlib
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from agentlake.adapters.sdk.contract import Stream
from agentlake.pipelines.ingest.signature import Signature
from agentlake.pipelines.warehouse.connect import Connection


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One stream, and how far it has been loaded.

    `signature` was taken before the last complete read; None means that there
    was none, so the stream is read on next time. `cursor` is the reader's own.
    """

    stream_id: int
    source: str
    key: str
    path: str
    reader: str
    signature: Signature | None = None
    cursor: str | None = None
    generation: int = 0
    parser_version: int = 0
    records: int = 0
    status: str = "loaded"
    """loaded, waiting (its last line had no newline yet), partial (a long load
    was on its way through it) or deferred (could not be read; is retried)."""
    reason: str | None = None
    first_loaded_at: datetime
    loaded_at: datetime
    missing_since: datetime | None = None
    load_id: int


def stream_id(source: str, key: str) -> int:
    """The stream's number: the same for the same source and key in any warehouse."""
    digest = hashlib.sha256(f"{source}\0{key}".encode(errors="replace")).digest()
    return int.from_bytes(digest[:8]) >> 1


def new_checkpoint(source: str, stream: Stream, load_id: int) -> Checkpoint:
    """The checkpoint of a stream that was never seen before."""
    now = datetime.now(UTC)
    return Checkpoint(
        stream_id=stream_id(source, stream.key),
        source=source,
        key=stream.key,
        path=stream.path,
        reader=stream.reader,
        first_loaded_at=now,
        loaded_at=now,
        load_id=load_id,
    )


_SELECT = """
    select
        stream_id, source, key, path, reader, device, inode, size, mtime_ns, beside,
        cursor, generation, parser_version, records, status, reason,
        epoch_us(first_loaded_at), epoch_us(loaded_at), epoch_us(missing_since), load_id
    from meta.streams"""


def checkpoints(
    connection: Connection, source: str, only: Collection[int] | None = None
) -> dict[int, Checkpoint]:
    """The source's checkpoints by stream id; `only` limits them to those streams."""
    query = f"{_SELECT} where source = $source"
    parameters: dict[str, object] = {"source": source}
    if only is not None:
        query += " and stream_id in (select unnest($only))"
        parameters["only"] = list(only)
    rows = connection.execute(query, parameters).fetchall()
    return {row[0]: _from_row(row) for row in rows}


def known_sources(connection: Connection) -> set[str]:
    """The sources of which anything was ever seen."""
    rows = connection.execute("select distinct source from meta.streams").fetchall()
    return {source for (source,) in rows}


def _from_row(row: Sequence[object]) -> Checkpoint:
    names = ("stream_id", "source", "key", "path", "reader")
    rest = ("cursor", "generation", "parser_version", "records", "status", "reason")
    signature = None
    if row[6] is not None:
        looks: Any = row[5:10]
        signature = Signature(*looks)
    values = dict(zip((*names, *rest), (*row[:5], *row[10:16]), strict=True))
    moments = [
        None if us is None else datetime.fromtimestamp(us / 1e6, UTC)  # type: ignore[operator]
        for us in row[16:19]
    ]
    return Checkpoint(
        **values,  # type: ignore[arg-type]
        signature=signature,
        first_loaded_at=moments[0],  # type: ignore[arg-type]
        loaded_at=moments[1],  # type: ignore[arg-type]
        missing_since=moments[2],
        load_id=row[19],  # type: ignore[arg-type]
    )


def save(connection: Connection, changed: Sequence[Checkpoint]) -> None:
    """Replace these checkpoints; inside the caller's transaction."""
    if not changed:
        return
    connection.execute(
        "delete from meta.streams where stream_id in (select unnest($ids))",
        {"ids": [item.stream_id for item in changed]},
    )
    # Imported here: a load that finds nothing new must not pay for Arrow.
    from agentlake.pipelines.warehouse.insert import insert_columns

    names = [name for name in Checkpoint.__struct_fields__ if name != "signature"]
    columns = {name: [getattr(item, name) for item in changed] for name in names}
    for name in Signature.__struct_fields__:
        columns[name] = [getattr(item.signature, name, None) for item in changed]
    insert_columns(connection, "meta.streams", columns)
