"""What raw has of one stream, and what a reading adds to it."""

from typing import Any

import msgspec

from agentlake.adapters.sdk.contract import Record, Reject
from agentlake.pipelines.ingest.plan import Work
from agentlake.pipelines.warehouse.connect import Connection, second
from agentlake.pipelines.warehouse.schema import raw_table

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
        with second(self._connection) as beside:
            return beside.execute(
                query.format(table=self._table), {"id": self._id} | parameters
            ).fetchall()
