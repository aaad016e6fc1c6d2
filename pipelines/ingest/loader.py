"""One load: what changed on disk goes into raw and staging, checkpoint included.

Streams are taken newest first, so that the first minutes of a long load answer
questions about today; an interrupted load goes on where it was.
"""

import gc
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import duckdb
import msgspec

from agentlake.adapters.sdk.scan import within
from agentlake.pipelines import timing
from agentlake.pipelines.ingest.checkpoint import Checkpoint, known_sources, save
from agentlake.pipelines.ingest.introduce import introduce
from agentlake.pipelines.ingest.listing import Listing, SourcePlan, list_streams
from agentlake.pipelines.ingest.plan import Found, Work, compare
from agentlake.pipelines.ingest.raw_stream import Piece
from agentlake.pipelines.ingest.read import pieces
from agentlake.pipelines.ingest.reason import bounded_reason
from agentlake.pipelines.ingest.replay import replay
from agentlake.pipelines.ingest.report import LoadReport, SourceReport
from agentlake.pipelines.ingest.write import (
    Committer,
    Writer,
    deferred,
    record_load,
)
from agentlake.pipelines.warehouse.connect import Connection, transaction
from agentlake.pipelines.warehouse.meta import last_load_id
from agentlake.pipelines.warehouse.schema import ensure

OnProgress = Callable[[LoadReport], None]
Refresh = Callable[[Connection], object]


def load(
    connection: Connection,
    plans: Sequence[SourcePlan],
    *,
    listings: Mapping[str, Listing] = {},
    only: Collection[int] | None = None,
    on_progress: OnProgress = lambda _: None,
    refresh: Refresh = lambda _: None,
    show: Refresh = lambda _: None,
) -> LoadReport:
    """Load what changed; a stream with an unchanged signature is not opened.

    `listings`, by source, are of sources whose folders were listed just now. `only`
    limits the load to these streams. `refresh` brings the models up to date: it is
    called now and then during a long load, and at its end. `show` lets clients see
    what is there, now and then.
    """
    ensure(connection, [plan.adapter.SOURCE for plan in plans])
    introduce(connection, [plan.adapter for plan in plans])
    run = _Load(connection, plans, on_progress, refresh, show)
    work = [
        one
        for plan in plans
        for one in run.find_work(plan, listings.get(plan.adapter.SOURCE), only)
    ]
    work.sort(key=lambda one: one.signature.changed_ns, reverse=True)
    with _without_garbage_collection():
        run.read_all(work)
    refresh(connection)
    return run.report


class _Load:
    """One load on its way."""

    def __init__(
        self,
        connection: Connection,
        plans: Sequence[SourcePlan],
        on_progress: OnProgress,
        refresh: Refresh,
        show: Refresh,
    ) -> None:
        self._connection = connection
        self._on_progress = on_progress
        self._refresh = refresh
        self._show = show
        self.report = _new_report(connection, plans)
        self._known = known_sources(connection)
        self._committer = Committer(connection)
        self._writers = {
            plan.adapter.SOURCE: Writer(self._committer, plan.adapter, self.report)
            for plan in plans
        }

    def find_work(
        self, plan: SourcePlan, listing: Listing | None, only: Collection[int] | None
    ) -> list[Work]:
        """What there is to read of one source; replayed first if its parser changed."""
        source = plan.adapter.SOURCE
        if not self.report.sources[source].found and source not in self._known:
            return []  # most agents: not there, and never were
        with _timed(self.report.sources[source]) as part:
            listing = list_streams(plan) if listing is None else listing
            load_id = self.report.load_id
            found = compare(self._connection, plan, listing, load_id, only)
            if found.outdated:
                with transaction(self._connection):
                    part.replayed = replay(
                        self._connection, plan.adapter, self.report.next_id
                    )
                    record_load(self._connection, self.report.part())
                found = compare(self._connection, plan, listing, load_id, only)
            part.streams = found.streams
            _note(self._connection, part, found)
        return found.work

    def read_all(self, work: Sequence[Work]) -> None:
        """Read and write it all; the models catch up now and then."""
        refreshed_at = time.monotonic()
        try:
            for one in work:
                with _timed(self.report.sources[one.adapter.SOURCE]) as part:
                    _read(self._connection, one, self._writers[part.source], part)
                self._on_progress(self.report)
                if time.monotonic() - refreshed_at > timing.REFRESH_EVERY_S:
                    self._commit()
                    self._refresh(self._connection)
                    self._show(self._connection)
                    refreshed_at = time.monotonic()
            self._commit()
        finally:
            self._committer.close()

    def _commit(self) -> None:
        for source, writer in self._writers.items():
            with _timed(self.report.sources[source]):
                writer.commit()
        self._committer.finish()


def _new_report(connection: Connection, plans: Sequence[SourcePlan]) -> LoadReport:
    sources = [
        SourceReport(
            source=plan.adapter.SOURCE,
            found=plan.is_found,
            searched=plan.searched,
        )
        for plan in plans
    ]
    return LoadReport(
        load_id=last_load_id(connection) + 1,
        sources={one.source: one for one in sources},
    )


def _note(connection: Connection, part: SourceReport, found: Found) -> None:
    """Write down what is missing, back or unreadable, if that is news."""
    part.waiting += found.waiting
    part.deferred += found.listing.unseen.items()
    part.led_out += found.listing.led_out.items()
    part.problem = "; ".join(found.listing.problems) or None
    now = datetime.now(UTC)
    replace = msgspec.structs.replace
    changed = [replace(item, missing_since=now) for item in found.missing]
    changed += [
        replace(item, path=path, missing_since=None) for item, path in found.moved
    ]
    for item, reason in found.unreadable:
        part.deferred.append((item.path, reason))
        if item.reason != reason:
            changed.append(deferred(item, reason))
    if changed:
        with transaction(connection):
            save(connection, changed)


def _read(
    connection: Connection, work: Work, writer: Writer, part: SourceReport
) -> None:
    """Read one stream to its end; one that cannot be read is deferred."""
    part.read += 1
    checkpoint = work.checkpoint
    is_half = False
    reading: Iterator[Piece] | None = None
    while True:
        try:
            with within(work.roots):
                reading = reading or pieces(connection, work)
                piece = next(reading, None)
            if piece is None:
                break
            writer.add(checkpoint.stream_id, piece.generation, piece.records)
        except duckdb.Error:  # of the warehouse
            raise
        except Exception as error:  # noqa: BLE001 - whatever a file or an adapter does
            said = getattr(error, "strerror", None) or str(error) or repr(error)
            reason = bounded_reason(said)
            part.deferred.append((work.stream.path, reason))
            writer.add_checkpoint(deferred(checkpoint, reason))
            return
        checkpoint = _advanced(checkpoint, work, piece)
        is_half = piece.waiting and not work.settled
        writer.add_checkpoint(checkpoint)
        if writer.is_full or piece.asks_raw:
            writer.commit()
        if piece.asks_raw:
            writer.finish()
    if is_half:
        part.waiting.append(work.stream.path)
    writer.add_checkpoint(
        msgspec.structs.replace(
            checkpoint,
            signature=work.signature,
            status="waiting" if is_half else "loaded",
        )
    )


def _advanced(checkpoint: Checkpoint, work: Work, piece: Piece) -> Checkpoint:
    """The checkpoint in the middle of a stream: without signature, so to be read on."""
    return msgspec.structs.replace(
        checkpoint,
        path=work.stream.path,
        signature=None,
        cursor=piece.cursor,
        generation=piece.generation,
        parser_version=work.adapter.PARSER_VERSION,
        records=checkpoint.records + len(piece.records),
        status="partial",
        reason=None,
        loaded_at=datetime.now(UTC),
        missing_since=None,
    )


@contextmanager
def _timed(one: SourceReport) -> Iterator[SourceReport]:
    start = time.perf_counter()
    try:
        yield one
    finally:
        one.seconds += time.perf_counter() - start


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Millions of short-lived rows, no cycles among them: counting refs is enough."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
