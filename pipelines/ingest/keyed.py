"""Read a stream of keyed records on: what is new, what changed, what is gone.

Readers may give a record again that has not changed; raw knows the newest version of
each key and decides. All that one reading finds is one generation of the stream, and a
record that is gone from its source is a version without content.
"""

from collections.abc import Iterator, Sequence

import msgspec
import xxhash

from agentlake.adapters.sdk.contract import Keyed, Record
from agentlake.adapters.sdk.readers.chunks import NEEDS, chunks
from agentlake.pipelines.ingest.plan import Work
from agentlake.pipelines.ingest.raw_stream import GONE, New, Piece, RawStream
from agentlake.pipelines.warehouse.connect import Connection

_AT_ONCE = 8 << 20
KEYED = frozenset(NEEDS)
"""Readers whose records have versions."""


def versions(connection: Connection, work: Work) -> Iterator[Piece]:
    """What a reading of the stream finds to be other than raw has it.

    A record that is gone comes with the content that it had, under `GONE`. What was
    read in one go may come in several pieces: only after the last does the stream
    stand further than before. Raises what the reader raises.
    """
    before = work.checkpoint
    known = _Known(connection, work)
    generation = before.generation + (before.records > 0)
    changed = False
    cursor = msgspec.json.decode(before.cursor) if before.cursor else None
    stands = before.cursor or ""
    for chunk in chunks(work.adapter, work.stream, work.path, cursor, work.options):
        for some in _portions(chunk.records):
            if records := known.new(some):
                changed = True
                yield Piece(records=records, cursor=stands, generation=generation)
        records = known.gone(chunk.complete)
        changed = changed or bool(records)
        stands = msgspec.json.encode(chunk.cursor).decode()
        yield Piece(
            records=records,
            cursor=stands,
            generation=generation if changed else before.generation,
        )


def _portions(records: Sequence[Keyed]) -> Iterator[list[Keyed]]:
    """The records in order, a bounded size at a time; a list is used up by that."""
    left = records if isinstance(records, list) else list(records)
    left.reverse()
    while left:
        portion: list[Keyed] = []
        size = 0
        while left and size < _AT_ONCE:
            portion.append(left.pop())
            size += len(portion[-1].data)
        yield portion


class _Known:
    """What raw has of the stream, asked for when it is needed."""

    def __init__(self, connection: Connection, work: Work) -> None:
        self._raw = RawStream(connection, work)
        self._stream = work.stream
        self._has_some = work.checkpoint.records > 0
        self._given: set[str] = set()
        self._after: dict[int, int] = {}
        """For each place that is taken, one behind it that may be free."""
        self._next = 0

    def new(self, records: Sequence[Keyed]) -> list[New]:
        """The records whose newest version raw does not have."""
        hashes = self._newest([one.key for one in records]) if records else {}
        found: list[New] = []
        for one in records:
            if one.key in self._given:  # written again during this reading: next time
                continue
            self._given.add(one.key)
            content_hash = xxhash.xxh3_64_hexdigest(one.data)
            place = self._place(one.seq)
            if hashes.get(one.key) != content_hash:
                record = Record(self._stream, place, 0, one.key, one.data)
                is_newer = one.key in hashes
                found.append(New(record, content_hash, replaces=is_newer))
        return found

    def gone(self, prefixes: Sequence[str]) -> list[New]:
        """What raw has below these prefixes and this reading did not give."""
        if not prefixes or not self._has_some:
            return []
        rows = self._raw.ask(
            """
            select record_key, arg_max((content_hash, seq), generation) as newest
            from {table}
            where stream_id = $id
            and list_bool_or(
                list_transform($prefixes, lambda it: starts_with(record_key, it))
            )
            group by record_key
            """,
            prefixes=list(prefixes),
        )
        left = {
            key: seq
            for key, (content_hash, seq) in rows
            if content_hash != GONE and key not in self._given
        }
        if not left:
            return []
        contents = self._raw.ask(
            """
            select record_key, arg_max(
                coalesce(encode(payload), payload_bytes), generation
            )
            from {table}
            where stream_id = $id and record_key in (select unnest($keys))
            group by record_key
            """,
            keys=list(left),
        )
        return [
            New(
                Record(self._stream, self._place(left[key]), 0, key, data),
                GONE,
                replaces=True,
            )
            for key, data in sorted(contents)
        ]

    def _newest(self, keys: list[str]) -> dict[str, str]:
        if not self._has_some:
            return {}
        rows = self._raw.ask(
            """
            select record_key, arg_max(content_hash, generation) from {table}
            where stream_id = $id and record_key in (select unnest($keys))
            group by record_key
            """,
            keys=keys,
        )
        return dict(rows)

    def _place(self, seq: int | None) -> int:
        """The record's place; the next free one if it is not its alone."""
        wanted = place = self._next if seq is None else seq
        while place in self._after:
            place = self._after[place]
        # Many that want one place do not walk past each other again and again.
        self._after[wanted] = self._after[place] = self._next = place + 1
        return place
