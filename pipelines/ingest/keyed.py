"""Read a stream of keyed records on: what is new, what changed, what is gone.

Readers may give a record again that has not changed; raw knows the newest version of
each key and decides. All that one reading finds is one generation of the stream, and a
record that is gone from its source is a version without content.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import xxhash

from agentlake.adapters.sdk.contract import Keyed, Record
from agentlake.adapters.sdk.readers.chunks import NEEDS, chunks
from agentlake.pipelines.ingest.plan import Work
from agentlake.pipelines.warehouse.connect import Connection, second
from agentlake.pipelines.warehouse.schema import raw_table

KEYED = frozenset(NEEDS)
"""Readers whose records have versions."""

GONE = ""
"""The content hash of a version that says: no longer there."""


class Version(msgspec.Struct, frozen=True, gc=False):
    """A record that is new, or another one than before, or gone."""

    record: Record
    content_hash: str
    replaces: bool
    """Whether raw has an older version of it."""


class Versions(msgspec.Struct, frozen=True):
    """Some versions, all of one generation, and where the stream stands after them."""

    records: list[Version]
    cursor: str
    generation: int


def versions(connection: Connection, work: Work) -> Iterator[Versions]:
    """What a reading of the stream finds to be other than raw has it.

    A record that is gone comes with the content that it had, under `GONE`. Raises
    what the reader raises.
    """
    before = work.checkpoint
    known = _Known(connection, work)
    generation = before.generation + (before.records > 0)
    changed = False
    cursor = msgspec.json.decode(before.cursor) if before.cursor else None
    for chunk in chunks(work.adapter, work.stream, work.path, cursor, work.options):
        records = [*known.new(chunk.records), *known.gone(chunk.complete)]
        changed = changed or bool(records)
        yield Versions(
            records,
            msgspec.json.encode(chunk.cursor).decode(),
            generation if changed else before.generation,
        )


class _Known:
    """What raw has of the stream, asked for when it is needed."""

    def __init__(self, connection: Connection, work: Work) -> None:
        self._connection = connection
        self._stream = work.stream
        self._table = raw_table(work.adapter.SOURCE)
        self._id = work.checkpoint.stream_id
        self._has_some = work.checkpoint.records > 0
        self._given: set[str] = set()
        self._after: dict[int, int] = {}
        """For each place that is taken, one behind it that may be free."""
        self._next = 0

    def new(self, records: Sequence[Keyed]) -> list[Version]:
        """The records whose newest version raw does not have."""
        hashes = self._newest([one.key for one in records]) if records else {}
        found: list[Version] = []
        for one in records:
            if one.key in self._given:  # written again during this reading: next time
                continue
            self._given.add(one.key)
            content_hash = xxhash.xxh3_64_hexdigest(one.data)
            place = self._place(one.seq)
            if hashes.get(one.key) != content_hash:
                record = Record(self._stream, place, 0, one.key, one.data)
                found.append(Version(record, content_hash, one.key in hashes))
        return found

    def gone(self, prefixes: Sequence[str]) -> list[Version]:
        """What raw has below these prefixes and this reading did not give."""
        if not prefixes or not self._has_some:
            return []
        rows = self._ask(
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
        contents = self._ask(
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
            Version(
                Record(self._stream, self._place(left[key]), 0, key, data),
                GONE,
                replaces=True,
            )
            for key, data in sorted(contents)
        ]

    def _newest(self, keys: list[str]) -> dict[str, str]:
        if not self._has_some:
            return {}
        rows = self._ask(
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

    def _ask(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        """Ask raw about this stream, beside the thread that writes."""
        with second(self._connection) as beside:
            return beside.execute(
                query.format(table=self._table), {"id": self._id} | parameters
            ).fetchall()
