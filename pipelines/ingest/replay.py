"""Parse a source's records again, from raw: the agent may have deleted its files."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

import msgspec

from agentlake.adapters.sdk.contract import Adapter, Record, Reject, Stream
from agentlake.adapters.sdk.run import facts_of
from agentlake.models.fact import Fact
from agentlake.models.table import FACTS
from agentlake.pipelines.ingest.batch import Batch, Origin, insert
from agentlake.pipelines.ingest.keyed import KEYED
from agentlake.pipelines.ingest.raw_stream import GONE
from agentlake.pipelines.ingest.supersede import Parsed, survivors
from agentlake.pipelines.warehouse.connect import Connection, second
from agentlake.pipelines.warehouse.schema import raw_table

_ROWS_AT_ONCE = 2_000
_WRITE_BYTES = 32 << 20


def replay(connection: Connection, adapter: Adapter, next_id: Callable[[], int]) -> int:
    """Remake all facts and rejects of a source; the number of records parsed.

    Inside the caller's transaction: readers see the old facts until the new ones
    are complete. The models are rebuilt whole by the next refresh. `next_id` gives a
    load id for each bounded number of rows.
    """
    source = adapter.SOURCE
    streams = _streams(connection, source)
    _forget_facts(connection, source)
    count = 0
    batch = Batch(source)

    def add(
        record: Record, origin: Origin, facts: list[Fact], rejects: list[Reject]
    ) -> None:
        nonlocal batch
        batch.add(record, origin, facts, rejects)
        if batch.bytes >= _WRITE_BYTES:
            insert(connection, batch.tables(next_id(), with_raw=False))
            batch = Batch(source)

    lines = [key for key, one in streams.items() if one.reader not in KEYED]
    for record, origin in _records(connection, source, streams, lines):
        count += 1
        if record.data or record.stream.reader != "jsonl":
            add(record, origin, *facts_of(adapter, record))
    keyed = [key for key, one in streams.items() if one.reader in KEYED]
    rows = _records(connection, source, streams, keyed, in_order=True)
    for _, versions in groupby(rows, key=lambda it: (it[1].stream_id, it[0].key)):
        parsed = list(_parsed(adapter, versions))
        count += len(parsed)
        for one in survivors(parsed):
            add(one.record, one.origin, one.facts, one.rejects)
    load_id = next_id()
    insert(connection, batch.tables(load_id, with_raw=False))
    connection.execute(
        "update meta.streams set parser_version = $1, load_id = $2 where source = $3",
        [adapter.PARSER_VERSION, load_id, source],
    )
    # What `explode` and `tables` did not give is not in raw: look at the files again.
    # An adapter's own `read` is asked as well, and knows what its cursor is worth.
    connection.execute(
        """
        update meta.streams set cursor = if(reader = 'own', cursor, null), device = null
        where source = $1 and reader in ('json_document', 'sqlite', 'own')
        """,
        [source],
    )
    return count


def _forget_facts(connection: Connection, source: str) -> None:
    """Delete what was said of its records, and what the models made of that."""
    for fact in FACTS:
        connection.execute(
            f"delete from staging.{fact.TABLE} where source = $1", [source]
        )
    connection.execute("delete from meta.session_loads where source = $1", [source])
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
    connection.execute("delete from meta.unknown_records where source = $1", [source])
    connection.execute("delete from meta.model_state")


def _streams(connection: Connection, source: str) -> dict[int, Stream]:
    rows = connection.execute(
        "select stream_id, path, key, reader from meta.streams where source = $1",
        [source],
    ).fetchall()
    return {
        stream_id: Stream(path=path, key=key, reader=reader)
        for stream_id, path, key, reader in rows
    }


def _parsed(
    adapter: Adapter, versions: Iterable[tuple[Record, Origin]]
) -> Iterator[Parsed]:
    """All versions of one record; one that says gone has the content before it."""
    data = b""
    for record, origin in versions:
        is_gone = origin.content_hash == GONE
        data = data if is_gone else record.data
        as_it_was = msgspec.structs.replace(record, data=data)
        yield Parsed(adapter, as_it_was, is_gone=is_gone, origin=origin)


def _records(
    connection: Connection,
    source: str,
    streams: dict[int, Stream],
    chosen: list[int],
    *,
    in_order: bool = False,
) -> Iterator[tuple[Record, Origin]]:
    """All that raw has of these streams, a bounded number of rows at a time.

    `in_order`: by record and version.
    """
    if not chosen:
        return
    order = "order by stream_id, record_key, generation" if in_order else ""
    with second(connection) as reader:
        reader.execute(
            f"""
            select
                stream_id, generation, content_hash, seq, byte_offset, record_key,
                coalesce(encode(payload), payload_bytes, ''::blob)
            from {raw_table(source)}
            where stream_id in (select unnest($chosen))
            {order}
            """,
            {"chosen": chosen},
        )
        while rows := reader.fetchmany(_ROWS_AT_ONCE):
            for stream_id, generation, content_hash, seq, offset, key, data in rows:
                record = Record(streams[stream_id], seq, offset, key, data)
                yield record, Origin(stream_id, generation, content_hash)
