"""What raw has of one stream, and what a reading adds to it."""

from collections.abc import Iterator
from typing import Any

import msgspec

from agentlake.adapters.sdk.contract import Record, Reject
from agentlake.pipelines.ingest.plan import Work
from agentlake.pipelines.warehouse.connect import Connection, second
from agentlake.pipelines.warehouse.schema import raw_table

_ROWS_AT_ONCE = 10_000
GONE = ""
"""The content hash of a version that says: no longer there."""


class New(msgspec.Struct, frozen=True, gc=False):
    """One record that is not in raw yet."""

    record: Record
    content_hash: str
    problem: Reject | None = None
    """Why it has no data."""
    replaces: bool = False
    """Whether it is a new version of a record that raw has."""


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """Some new records in order, and where the stream stands after them."""

    records: list[New]
    cursor: str
    generation: int
    waiting: bool = False
    """Bytes follow that are no record yet."""
    asks_raw: bool = False
    """What follows is read with the help of raw, which must have these records."""


class RawStream:
    """The records of one stream that raw has."""

    def __init__(self, connection: Connection, work: Work) -> None:
        self._connection = connection
        self._table = raw_table(work.adapter.SOURCE)
        self._id = work.checkpoint.stream_id

    def ask(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        """The rows of a query on `{table}` where the stream is `$id`.

        It is asked beside the thread that writes, and sees what is committed.
        """
        return list(self.each(query, **parameters))

    def each(self, query: str, **parameters: object) -> Iterator[tuple[Any, ...]]:
        """The same, a bounded number of rows at a time."""
        with second(self._connection) as beside:
            beside.execute(
                query.format(table=self._table), {"id": self._id} | parameters
            )
            while rows := beside.fetchmany(_ROWS_AT_ONCE):
                yield from rows
