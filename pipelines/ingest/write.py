"""Write records, facts and checkpoints, always together in one transaction."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import msgspec

from agentlake.adapters.sdk import pointer
from agentlake.adapters.sdk.contract import Adapter, Reject
from agentlake.adapters.sdk.run import facts_of, is_damage
from agentlake.models.fact import Fact
from agentlake.pipelines.ingest.batch import Batch, Origin, Tables, insert
from agentlake.pipelines.ingest.checkpoint import Checkpoint, save
from agentlake.pipelines.ingest.raw_stream import GONE, New
from agentlake.pipelines.ingest.reason import bounded_reason
from agentlake.pipelines.ingest.report import LoadReport, Part
from agentlake.pipelines.ingest.supersede import gone_facts, has_bill, supersede
from agentlake.pipelines.warehouse.connect import Connection, transaction

COMMIT_BYTES = 48 << 20
COMMIT_RECORDS = 60_000
COMMIT_STREAMS = 2000


class HalfWritten(ValueError):
    """A document that says nothing now: somebody may be in the middle of writing it."""


class Rows(msgspec.Struct, frozen=True):
    """What one transaction writes, and which records' older versions it replaces."""

    tables: Tables
    replaced: Sequence[tuple[int, str, bool]]
    part: Part


class Committer:
    """Writes what it is given in a thread of its own, one transaction after another.

    DuckDB compresses while Python parses on, on another core. At most one
    transaction waits, so memory stays bounded; its failure is raised by the next call.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._waiting: Future[None] | None = None

    def commit(
        self, source: str, rows: Rows, checkpoints: Sequence[Checkpoint]
    ) -> None:
        """Begin to write rows and the checkpoints that belong to them."""
        self.finish()
        self._waiting = self._thread.submit(self._commit, source, rows, checkpoints)

    def finish(self) -> None:
        """Wait until everything that was given is committed."""
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            waiting.result()

    def close(self) -> None:
        """Wait for the transaction on its way, and end the thread."""
        self._thread.shutdown()

    def _commit(
        self, source: str, rows: Rows, checkpoints: Sequence[Checkpoint]
    ) -> None:
        with transaction(self._connection):
            supersede(self._connection, source, rows.replaced, rows.part.load_id)
            insert(self._connection, rows.tables)
            save(self._connection, checkpoints)
            record_load(self._connection, rows.part)


class Writer:
    """The rows of one source that a load has read and not yet committed.

    Many small streams share a transaction, a huge one takes several.
    """

    def __init__(
        self, committer: Committer, adapter: Adapter, report: LoadReport
    ) -> None:
        self._committer = committer
        self._source = adapter.SOURCE
        self._adapter = adapter
        self._load = report
        self._report = report.sources[adapter.SOURCE]
        self._start()

    def _start(self) -> None:
        self._batch = Batch(self._source)
        self._checkpoints: dict[int, Checkpoint] = {}

    def add(self, stream_id: int, generation: int, new: Sequence[New]) -> None:
        """Take new records of one stream, and parse them: all of them, or none.

        Raises HalfWritten for a document of which nothing can be understood.
        """
        for one, (facts, rejects) in [(one, self._said(one)) for one in new]:
            origin = Origin(stream_id, generation, one.content_hash)
            self._batch.add(one.record, origin, facts, rejects)
            if one.replaces and one.content_hash != GONE:
                replaced = (stream_id, one.record.key, has_bill(facts))
                self._batch.replaced.append(replaced)
            self._report.facts += len(facts)

    def _said(self, one: New) -> tuple[list[Fact], list[Reject]]:
        if one.problem is not None:
            return [], [one.problem]
        if one.content_hash == GONE:
            return gone_facts(self._adapter, one.record), []
        facts, rejects = facts_of(self._adapter, one.record)
        damages = [reject for reject in rejects if is_damage(reject)]
        is_document = one.record.stream.reader == "document"
        if is_document and damages and not facts and not pointer.size(one.record.data):
            raise HalfWritten(bounded_reason(damages[0].reason, one.record.data))
        return facts, rejects

    def add_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Take a checkpoint; it replaces an earlier one of its stream."""
        self._checkpoints[checkpoint.stream_id] = checkpoint

    @property
    def is_full(self) -> bool:
        """Whether it is time to commit."""
        return (
            self._batch.bytes >= COMMIT_BYTES
            or len(self._batch) >= COMMIT_RECORDS
            or len(self._checkpoints) >= COMMIT_STREAMS
        )

    def finish(self) -> None:
        """Wait until everything that was handed over is committed."""
        self._committer.finish()

    def commit(self) -> None:
        """Hand everything over to be written, all or nothing."""
        if not len(self._batch) and not self._checkpoints:
            return
        tables = self._batch.tables(self._load.next_id())
        self._report.records += len(self._batch)
        self._report.bytes += self._batch.bytes
        self._report.rejects += self._batch.rejects
        rows = Rows(tables, self._batch.replaced, self._load.part())
        self._committer.commit(self._source, rows, list(self._checkpoints.values()))
        self._start()


def record_load(connection: Connection, part: Part) -> None:
    """Write the row of this transaction of a load; inside it."""
    connection.execute(
        "insert into meta.loads values ($1, $2, now(), $3, $4, $5, $6)",
        [part.load_id, part.started_at, *part.counts],
    )


def deferred(checkpoint: Checkpoint, reason: str) -> Checkpoint:
    """The checkpoint of a stream that cannot be read now; its position stays."""
    return msgspec.structs.replace(
        checkpoint, status="deferred", reason=reason, signature=None
    )
