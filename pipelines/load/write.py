"""Write records, facts and checkpoints, always together in one transaction."""

from collections.abc import Sequence

import msgspec

from agentlake.adapters.sdk.run import Parses, facts_of
from agentlake.models.fact import Fact
from agentlake.pipelines.load.batch import Batch
from agentlake.pipelines.load.checkpoint import Checkpoint, save
from agentlake.pipelines.load.read import New
from agentlake.pipelines.load.report import LoadReport
from agentlake.pipelines.warehouse.connect import Connection, transaction

COMMIT_BYTES = 32 << 20


class HalfWritten(ValueError):
    """A document that says nothing now: somebody may be in the middle of writing it."""


class Writer:
    """The rows of one source that a load has read and not yet committed.

    Many small streams share a transaction, a huge one takes several.
    """

    def __init__(
        self, connection: Connection, source: str, adapter: Parses, report: LoadReport
    ) -> None:
        self._connection = connection
        self._adapter = adapter
        self._load = report
        self._report = report.sources[source]
        self._batch = Batch(source, report.load_id)
        self._checkpoints: list[Checkpoint] = []

    def add(self, stream_id: int, generation: int, new: Sequence[New]) -> None:
        """Take new records of one stream, and parse them.

        Raises HalfWritten for a document of which nothing can be understood.
        """
        for one in new:
            facts: list[Fact] = []
            if one.problem is not None:
                rejects = [one.problem]
            else:
                facts, rejects = facts_of(self._adapter, one.record)
            if one.record.stream.reader == "document" and rejects and not facts:
                raise HalfWritten(rejects[0].reason)
            self._batch.add(
                stream_id, generation, one.record, one.content_hash, facts, rejects
            )
            self._report.facts += len(facts)

    def add_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Take a checkpoint; it replaces an earlier one of its stream."""
        if self._checkpoints and (
            self._checkpoints[-1].stream_id == checkpoint.stream_id
        ):
            self._checkpoints.pop()
        self._checkpoints.append(checkpoint)

    @property
    def is_full(self) -> bool:
        """Whether it is time to commit."""
        return self._batch.bytes >= COMMIT_BYTES or len(self._checkpoints) >= 2000

    def commit(self) -> None:
        """Write everything, or nothing."""
        if not len(self._batch) and not self._checkpoints:
            return
        with transaction(self._connection):
            self._report.records += len(self._batch)
            self._report.bytes += self._batch.bytes
            self._report.rejects += self._batch.write(self._connection)
            save(self._connection, self._checkpoints)
            record_load(self._connection, self._load)
        self._checkpoints = []


def record_load(connection: Connection, report: LoadReport) -> None:
    """Write the load's own row as it stands now; inside the caller's transaction."""
    connection.execute("delete from meta.loads where load_id = $1", [report.load_id])
    totals = [report.total(name) for name in ("read", "records", "bytes", "rejects")]
    connection.execute(
        "insert into meta.loads values ($1, $2, now(), $3, $4, $5, $6)",
        [report.load_id, report.started_at, *totals],
    )


def deferred(checkpoint: Checkpoint, reason: str) -> Checkpoint:
    """The checkpoint of a stream that cannot be read now; its position stays."""
    return msgspec.structs.replace(
        checkpoint, status="deferred", reason=reason, signature=None
    )


