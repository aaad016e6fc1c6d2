"""Parse a source's records again, from raw: the agent may have deleted its files."""

from collections.abc import Iterator

from agentlake.adapters.sdk.contract import Adapter, Record, Stream
from agentlake.adapters.sdk.run import facts_of
from agentlake.models.table import FACTS
from agentlake.pipelines.load.batch import Batch, Place, insert
from agentlake.pipelines.warehouse.connect import Connection, second
from agentlake.pipelines.warehouse.schema import raw_table

_ROWS_AT_ONCE = 2_000
_WRITE_BYTES = 32 << 20


def replay(connection: Connection, adapter: Adapter, load_id: int) -> int:
    """Remake all facts and rejects of a source; the number of records parsed.

    Inside the caller's transaction: readers see the old facts until the new ones
    are complete. The models are rebuilt whole by the next refresh.
    """
    source = adapter.SOURCE
    streams = _streams(connection, source)
    for fact in FACTS:
        connection.execute(
            f"delete from staging.{fact.TABLE} where source = $1", [source]
        )
    # A line that was too long to keep has nothing to parse; its reject stays.
    connection.execute(
        f"""
        delete from meta.rejects where source = $1
        and (stream_id, generation, seq) not in (
            select (stream_id, generation, seq) from {raw_table(source)}
            where payload = ''
        )
        """,
        [source],
    )
    connection.execute("delete from meta.model_state")
    count = 0
    batch = Batch(source)
    for record, place in _records(connection, source, streams):
        count += 1
        if not record.data and record.stream.reader == "jsonl":
            continue
        facts, rejects = facts_of(adapter, record)
        batch.add(record, place, facts, rejects)
        if batch.bytes >= _WRITE_BYTES:
            insert(connection, batch.tables(load_id, with_raw=False))
            batch = Batch(source)
    insert(connection, batch.tables(load_id, with_raw=False))
    connection.execute(
        "update meta.streams set parser_version = $1, load_id = $2 where source = $3",
        [adapter.PARSER_VERSION, load_id, source],
    )
    return count


def _streams(connection: Connection, source: str) -> dict[int, Stream]:
    rows = connection.execute(
        "select stream_id, path, key, reader from meta.streams where source = $1",
        [source],
    ).fetchall()
    return {
        stream_id: Stream(path=path, key=key, reader=reader)
        for stream_id, path, key, reader in rows
    }


def _records(
    connection: Connection, source: str, streams: dict[int, Stream]
) -> Iterator[tuple[Record, Place]]:
    """Everything in raw, a bounded number of rows at a time."""
    with second(connection) as reader:
        reader.execute(
            f"""
            select
                stream_id, generation, content_hash, seq, byte_offset, record_key,
                coalesce(encode(payload), payload_bytes)
            from {raw_table(source)}
            """
        )
        while rows := reader.fetchmany(_ROWS_AT_ONCE):
            for stream_id, generation, content_hash, seq, offset, key, data in rows:
                record = Record(streams[stream_id], seq, offset, key, data)
                yield record, Place(stream_id, generation, content_hash)
