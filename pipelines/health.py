"""What was found where, how fresh it is, and what will be lost if nobody loads.

Only looks: agents' files are listed and stat-ed, the warehouse is read.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import duckdb
import msgspec

from agentlake.adapters.registry import added, names
from agentlake.adapters.sdk.contract import Adapter
from agentlake.adapters.sdk.contract import Health as Told
from agentlake.adapters.sdk.run import guarded
from agentlake.adapters.sdk.scan import within
from agentlake.errors import UserError
from agentlake.pipelines import timing
from agentlake.pipelines.ingest.listing import SourcePlan, list_streams
from agentlake.pipelines.ingest.plan import Found, compare
from agentlake.pipelines.prices.in_force import (
    PriceList,
    Unpriced,
    price_list,
    unpriced,
)
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.sync import plans
from agentlake.pipelines.warehouse.connect import BusyError, Connection, reading
from agentlake.pipelines.warehouse.fitness import files, obstacles
from agentlake.pipelines.warehouse.schema import ensure

_DAY_S = 86_400
_LAST_REJECTS = 3


class Problem(msgspec.Struct, frozen=True):
    """A record or a stream that needs attention, and why."""

    path: str
    line: int | None
    reason: str


class Unloaded(msgspec.Struct, kw_only=True):
    """What is on disk and not in the warehouse."""

    streams: int = 0
    oldest_path: str | None = None
    oldest_age_days: int | None = None
    about_to_be_lost: int = 0
    deleted_after_days: int | None = None
    """The agent's own clean-up period, None if it deletes nothing."""


class UnknownType(msgspec.Struct, frozen=True):
    """A type of record that the adapter does not know, and where one stands."""

    type: str
    records: int
    first_seen_at: datetime | None
    last_seen_at: datetime | None
    path: str | None
    line: int


class SourceHealth(msgspec.Struct, kw_only=True):
    """One source; what the warehouse says is None while another program holds it."""

    source: str
    enabled: bool
    found: bool = False
    roots: list[str] = []
    searched: list[str] = []
    streams_on_disk: int = 0
    unloaded: Unloaded | None = None
    streams: int | None = None
    records: int | None = None
    waiting: int | None = None
    missing: int | None = None
    last_loaded_at: datetime | None = None
    last_message_at: datetime | None = None
    rejects: int | None = None
    last_rejects: list[Problem] = []
    unknown_types: list[UnknownType] = []
    """What it may have begun to write: counted, kept in raw, and in no mart."""
    deferred: list[Problem] = []
    problem: str | None = None
    """Why its adapter cannot be used."""
    warnings: list[str] = []
    """What its agent's settings do to its history."""
    notes: list[str] = []
    """What its agent does to its history whatever is set."""
    gone: int | None = None
    """Messages that the agent has deleted since they were loaded, and are kept."""
    rewritten: int | None = None
    """Streams whose earlier content the agent replaced; both are kept."""
    not_understood: list[str] = []
    """Streams all of whose records were rejected: maybe a new version of the format."""
    moved: bool = False
    """Whether history was loaded from it, and none of its folders is there now."""


class Health(msgspec.Struct, kw_only=True):
    """Everything that `agentlake doctor` tells."""

    config: str
    config_exists: bool
    home: str
    time_zone: str
    warehouse: str
    warehouse_bytes: int | None = None
    busy: str | None = None
    """Who holds the warehouse, if somebody does."""
    sources: list[SourceHealth] = []
    unpriced: list[Unpriced] = []
    prices: PriceList | None = None
    broken: list[str] = []
    """Adapters of the user's that cannot be used, and why."""
    obstacles: list[str] = []
    """What would stop a load now, and what to do about it."""
    files: dict[str, int] = {}
    """The bytes of each file of the warehouse."""

    @property
    def unread(self) -> int:
        """How many streams wait for a load."""
        return sum(one.unloaded.streams for one in self.sources if one.unloaded)

    @property
    def is_fine(self) -> bool:
        """Whether a load would work and nothing is deferred, broken or nearly lost."""
        return not (self.broken or self.obstacles) and not any(
            one.deferred
            or one.problem
            or one.warnings
            or (one.unloaded and one.unloaded.about_to_be_lost)
            for one in self.sources
        )


def examine(settings: Settings, environ: Mapping[str, str]) -> Health:
    """Look at every source and at the warehouse."""
    warehouse = settings.warehouse
    health = Health(
        config=str(settings.config),
        config_exists=settings.config.exists(),
        home=str(settings.home),
        time_zone=settings.time_zone,
        warehouse=str(warehouse),
        warehouse_bytes=warehouse.stat().st_size if warehouse.exists() else None,
        obstacles=obstacles(warehouse),
        files=files(warehouse),
    )
    enabled = {plan.adapter.SOURCE: plan for plan in plans(settings, environ)}
    with _opened(warehouse, health) as connection:
        for name in [*names(), *sorted(_left_behind(connection, health))]:
            one = SourceHealth(source=name, enabled=name in enabled)
            if plan := enabled.get(name):
                _look(connection, plan, one, is_known=health.busy is None)
            if name not in names():
                one.enabled = True
                one.problem = (
                    "its adapter cannot be used or is gone; its history is kept"
                )
            if health.busy is None:
                _ask(connection, one)
            health.sources.append(one)
        if health.busy is None:
            health.unpriced = unpriced(connection)
        health.prices = price_list(connection)
    health.broken = list(added().broken.values())
    return health


def _left_behind(connection: Connection, health: Health) -> set[str]:
    """Sources that were loaded once and that no adapter knows now."""
    if health.busy is not None:
        return set()
    rows = connection.execute("select distinct source from meta.streams").fetchall()
    return {source for (source,) in rows} - set(names())


@contextmanager
def _opened(warehouse: Path, health: Health) -> Iterator[Connection]:
    """The warehouse, or an empty one in memory where there is none or it is held."""
    if warehouse.exists():
        try:
            with reading(warehouse, wait_s=timing.READ_WAIT_S) as connection:
                if _has(connection, "meta", "streams"):
                    yield connection
                    return
        except BusyError as error:
            health.busy = str(error)
        except UserError as error:
            health.busy = str(error)
            if not health.obstacles:
                health.obstacles.append(str(error))
    with duckdb.connect() as connection:
        ensure(connection, [])
        yield connection


def _look(
    connection: Connection, plan: SourcePlan, one: SourceHealth, *, is_known: bool
) -> None:
    one.found = plan.is_found
    one.roots = [str(root) for root in plan.roots]
    one.searched = list(plan.searched)
    periods = told(plan, one)
    found = compare(connection, plan, list_streams(plan), load_id=0)
    one.streams_on_disk = found.streams
    one.problem = "; ".join(found.listing.problems) or None
    unseen = found.listing.unseen.items()
    one.deferred += [Problem(path, None, why) for path, why in unseen]
    one.warnings += [
        f"{path} leads out of its folders, to {real}, and is not followed. If history"
        f" lies there, name its folder in sources.{one.source}.roots, too"
        for path, real in found.listing.led_out.items()
    ]
    if is_known:
        one.deferred += [
            Problem(item.path, None, why) for item, why in found.unreadable
        ]
        one.unloaded = unloaded(found, periods)


def unloaded(found: Found, periods: Mapping[str, int]) -> Unloaded:
    """How old what is not loaded is, measured against the agent's clean-up."""
    result = Unloaded(streams=len(found.work) + len(found.unreadable))
    now = time.time()
    result.deleted_after_days = min(periods.values(), default=None)
    for work in found.work:
        age = int(now - work.signature.changed_ns / 1e9) // _DAY_S
        if result.oldest_age_days is None or age > result.oldest_age_days:
            result.oldest_age_days = age
            result.oldest_path = work.stream.path
        days = next(
            (
                days
                for root, days in periods.items()
                if work.stream.path.startswith(root)
            ),
            None,
        )
        if days is not None and age > days - timing.SOON_LOST_DAYS:
            result.about_to_be_lost += 1
    return result


def told(plan: SourcePlan, one: SourceHealth) -> dict[str, int]:
    """What the adapter knows of its agent's habits; the clean-up period by folder."""
    periods: dict[str, int] = {}
    for root in plan.roots:
        try:
            with within([str(it) for it in plan.roots]):
                (said,) = guarded(plan.adapter, partial(_told_of, plan.adapter, root))
        except Exception as error:  # noqa: BLE001 - an adapter of anyone's
            one.warnings.append(f"its health could not be asked: {error}")
            continue
        one.warnings += [f"{root}: {warning}" for warning in said.warnings]
        one.notes += [note for note in said.notes if note not in one.notes]
        if said.deleted_after_days is not None:
            periods[f"{root}{os.sep}"] = said.deleted_after_days
    return periods


def _told_of(adapter: Adapter, root: Path) -> list[Told]:
    tell = getattr(adapter, "health", None)
    return [Told() if tell is None else tell(str(root))]


def _ask(connection: Connection, one: SourceHealth) -> None:
    """Add what the warehouse knows of a source."""
    source = [one.source]
    one.streams, one.records, one.waiting, one.missing, loaded_us = connection.execute(
        """
        select
            count(*), coalesce(cast(sum(records) as bigint), 0),
            count(*) filter (where status = 'waiting'),
            count(*) filter (where missing_since is not null),
            epoch_us(max(loaded_at))
        from meta.streams
        where source = $1 and (status <> 'deferred' or records > 0)
        """,
        source,
    ).fetchall()[0]
    ((message_us,),) = connection.execute(
        "select epoch_us(max(sent_at)) from staging.messages where source = $1", source
    ).fetchall()
    one.last_loaded_at, one.last_message_at = _moment(loaded_us), _moment(message_us)
    seen = {place.path for place in one.deferred}
    one.deferred += [
        Problem(path, None, reason or "could not be read")
        for path, reason in connection.execute(
            "select path, reason from meta.streams "
            "where source = $1 and status = 'deferred' order by path",
            source,
        ).fetchall()
        if path not in seen
    ]
    rejects = connection.execute(
        f"""
        select streams.path, rejects.seq + 1, rejects.reason, count(*) over ()
        from meta.rejects as rejects left join meta.streams as streams using (stream_id)
        where rejects.source = $1
        order by rejects.load_id desc, streams.path, rejects.seq
        limit {_LAST_REJECTS}
        """,
        source,
    ).fetchall()
    one.rejects = rejects[0][3] if rejects else 0
    one.last_rejects = [
        Problem(path, line, reason) for path, line, reason, _ in rejects
    ]
    one.unknown_types = _unknown_types(connection, one.source)
    ((one.gone,),) = connection.execute(
        "select count(*) from staging.gone"
        " where source = $1 and message_id is not null",
        source,
    ).fetchall()
    ((one.rewritten,),) = connection.execute(
        "select count(*) from meta.streams"
        " where source = $1 and generation > 0 and reader = 'jsonl'",
        source,
    ).fetchall()
    one.not_understood = [
        path
        for (path,) in connection.execute(
            """
            select streams.path
            from meta.streams as streams
            inner join (
                select stream_id, count(distinct (generation, seq)) as records
                from meta.rejects where source = $1 group by stream_id
            ) as rejected using (stream_id)
            where streams.records > 0 and rejected.records >= streams.records
            order by streams.path
            """,
            source,
        ).fetchall()
    ]
    one.moved = bool(one.streams) and one.enabled and not one.found


def _unknown_types(connection: Connection, source: str) -> list[UnknownType]:
    if not _has(connection, "marts", "unknown_types"):
        return []
    rows = connection.execute(
        """
        select
            type, records, epoch_us(first_seen_at), epoch_us(last_seen_at),
            example_path, example_seq + 1
        from marts.unknown_types where source = $1
        """,
        [source],
    ).fetchall()
    return [
        UnknownType(name, records, _moment(first), _moment(last), path, line)
        for name, records, first, last, path, line in rows
    ]


def _has(connection: Connection, schema: str, table: str) -> bool:
    found = connection.execute(
        "select 1 from information_schema.tables"
        " where table_schema = $1 and table_name = $2",
        [schema, table],
    )
    return bool(found.fetchall())


def _moment(us: int | None) -> datetime | None:
    return None if us is None else datetime.fromtimestamp(us / 1e6, UTC)
