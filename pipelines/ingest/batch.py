"""Rows on their way into the warehouse: gathered by column, written in one go.

Arrow checks the type of every column; only when it objects is each fact looked at by
itself, so that one bad field costs its own fact and nothing else.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from agentlake.adapters.sdk.contract import Record, Reject
from agentlake.adapters.sdk.run import is_damage
from agentlake.models.fact import Fact
from agentlake.models.table import LINEAGE, columns
from agentlake.pipelines.ingest.raw_stream import GONE
from agentlake.pipelines.ingest.reason import bounded_reason
from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.schema import raw_table

Tables = dict[str, dict[str, Any]]
"""Rows to be inserted: table, column, values."""


def insert(connection: Connection, tables: Tables) -> None:
    """Insert all rows, inside the caller's transaction."""
    # Imported here: a load that finds nothing new must not pay for Arrow.
    from agentlake.pipelines.warehouse.insert import insert_columns

    for table, rows in tables.items():
        insert_columns(connection, table, rows)


class Origin(NamedTuple):
    """Which reading of which stream a record is of."""

    stream_id: int
    generation: int
    content_hash: str


class Batch:
    """Records of one source and what they say, not yet written."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._load_id = 0
        self.bytes = 0
        self._records: list[Record] = []
        self._origins: list[Origin] = []
        self._facts: defaultdict[type[Fact], list[Fact]] = defaultdict(list)
        self._of_record: defaultdict[type[Fact], list[int]] = defaultdict(list)
        self._parts: defaultdict[type[Fact], list[int]] = defaultdict(list)
        self._rejects: list[tuple[int, str]] = []
        self._unknown: list[tuple[int, str]] = []
        self.replaced: list[tuple[int, str, bool]] = []
        """Records whose older versions make room: stream, key, whether it has usage."""

    @property
    def rejects(self) -> int:
        """The number of rejects; final once the tables are made."""
        return len(self._rejects)

    def __len__(self) -> int:
        """The number of records."""
        return len(self._records)

    def add(
        self,
        record: Record,
        origin: Origin,
        facts: Iterable[Fact],
        rejects: Iterable[Reject],
    ) -> None:
        """Take one record with its facts and rejects."""
        row = len(self._records)
        self._records.append(record)
        self._origins.append(origin)
        self.bytes += len(record.data)
        for fact in facts:
            kind = type(fact)
            rows = self._of_record[kind]
            parts = self._parts[kind]
            parts.append(parts[-1] + 1 if rows and rows[-1] == row else 0)
            rows.append(row)
            self._facts[kind].append(fact)
        for reject in rejects:
            if is_damage(reject):
                self._reject(row, reject.reason)
            else:
                self._unknown.append((row, bounded_reason(reject.reason)))

    def tables(self, load_id: int, *, with_raw: bool = True) -> Tables:
        """Everything as columns, by the table to which it goes.

        `with_raw` is False for a replay, whose records are in raw already.
        """
        self._load_id = load_id
        tables = {f"staging.{kind.TABLE}": self._staging(kind) for kind in self._facts}
        if sessions := self._sessions():
            tables["meta.session_loads"] = {
                "source": [self._source] * len(sessions),
                "session_id": sessions,
                "load_id": [load_id] * len(sessions),
            }
        if with_raw and self._records:
            tables[raw_table(self._source)] = self._raw()
        for table, column, found in (
            ("meta.rejects", "reason", self._rejects),
            ("meta.unknown_records", "type", self._unknown),
        ):
            if found:
                rows = [row for row, _ in found]
                tables[table] = self._lineage(rows) | {
                    "byte_offset": [self._records[row].offset for row in rows],
                    column: [text for _, text in found],
                }
        return tables

    def _sessions(self) -> list[str]:
        """The sessions of which there are facts."""
        found: set[str] = set()
        for facts in self._facts.values():
            found.update(fact.session_id for fact in facts)  # type: ignore[attr-defined]
        return sorted(found)

    def _lineage(self, rows: Sequence[int]) -> dict[str, Any]:
        """What every table has about the records in which its rows were found."""
        return {
            "source": [self._source] * len(rows),
            "stream_id": [self._origins[row].stream_id for row in rows],
            "generation": [self._origins[row].generation for row in rows],
            "seq": [self._records[row].seq for row in rows],
            "load_id": [self._load_id] * len(rows),
        }

    def _raw(self) -> dict[str, Any]:
        from agentlake.pipelines.ingest.arrow import payload_arrays

        values = self._lineage(range(len(self._records)))
        del values["source"]  # the table is the source's own
        payload, damaged = payload_arrays(
            [
                None if origin.content_hash == GONE else record.data
                for record, origin in zip(self._records, self._origins, strict=True)
            ]
        )
        return values | {
            "record_key": [record.key for record in self._records],
            "content_hash": [origin.content_hash for origin in self._origins],
            "byte_offset": [record.offset for record in self._records],
            "payload": payload,
            "payload_bytes": damaged,
        }

    def _staging(self, kind: type[Fact]) -> dict[str, Any]:
        from agentlake.pipelines.ingest.arrow import REFUSED, fact_arrays, typed

        own = columns(kind)
        try:
            arrays = fact_arrays(own, self._facts[kind])
        except REFUSED:
            self._drop_bad_facts(kind)
            arrays = fact_arrays(own, self._facts[kind])
        values = self._lineage(self._of_record[kind]) | {"part": self._parts[kind]}
        lineage = {c.name: typed(values[c.name], c.sql_type) for c in LINEAGE}
        return lineage | arrays

    def _drop_bad_facts(self, kind: type[Fact]) -> None:
        """Take out what does not fit: of a time only itself, else the fact."""
        from agentlake.pipelines.ingest.arrow import REFUSED, fact_arrays, is_odd

        own = columns(kind)
        required = {column.name for column in own if column.required}
        good: list[int] = []
        for position, fact in enumerate(self._facts[kind]):
            record = self._of_record[kind][position]
            for name, value in msgspec.structs.asdict(fact).items():
                if is_odd(value) and name not in required:
                    reason = f"{kind.__name__}: {name} is no time of an agent: {value}"
                    self._reject(record, reason)
                    fact = msgspec.structs.replace(fact, **{name: None})
                    self._facts[kind][position] = fact
            try:
                fact_arrays(own, [fact])
            except REFUSED as error:
                reason = f"{kind.__name__} left out: {error}"
                self._reject(record, reason)
            else:
                good.append(position)
        self._facts[kind] = [self._facts[kind][position] for position in good]
        for values in (self._of_record, self._parts):
            values[kind] = [values[kind][position] for position in good]

    def _reject(self, row: int, reason: str) -> None:
        data = self._records[row].data
        self._rejects.append((row, bounded_reason(reason, data)))
