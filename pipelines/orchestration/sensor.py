"""The sensor: one run for all that changed on disk, or that a failed run left behind.

Level-triggered: it compares the disk with what the last successful materialization of
each source recorded, and each model with what it reads. So a failed run, a restart or
a kill never loses a change. Its cursor holds back-off, and which records not to believe
because their warehouse is gone.
"""

import os
import time
from collections.abc import Iterable, Mapping, Sequence

import dagster as dg
import msgspec

from agentlake.errors import UserError
from agentlake.pipelines import timing
from agentlake.pipelines.ingest.changes import (
    Asked,
    ask,
    came_to_nothing,
    decide,
    delay,
)
from agentlake.pipelines.ingest.listing import SourcePlan
from agentlake.pipelines.ingest.scanner import Scanner, Snapshot
from agentlake.pipelines.orchestration.made import (
    Asset,
    Made,
    baseline_of,
    in_order,
    last_made,
    missed_a_day,
    newest,
    out_of_date,
    recorded_load,
    to_make,
)
from agentlake.pipelines.orchestration.raw_assets import STREAMS, raw_op
from agentlake.pipelines.orchestration.runs import unfinished
from agentlake.pipelines.orchestration.same_warehouse import is_another
from agentlake.pipelines.orchestration.tags import ALL, BY, CHECKS, TOUCHED, WHY
from agentlake.pipelines.orchestration.warehouse_resource import WarehouseResource
from agentlake.pipelines.sync import plans
from agentlake.pipelines.warehouse.one_ui import PID, other_ui

_MOST_NAMED = 50
"""More changed streams than this, and the source is loaded in full."""
_MOST_TOLD = 3

scanners: dict[str, Scanner] = {}
"""What this process remembers of the disk: an economy, nothing depends on it."""
_told: dict[str, tuple[str, ...]] = {}
"""What was reported to be in the way of a scan, by source."""


class _Tried(msgspec.Struct, frozen=True, array_like=True):
    """A run that was asked for because of what a failed one left behind."""

    newest: int
    tries: int
    at: float


class _Cursor(msgspec.Struct, kw_only=True, omit_defaults=True):
    sources: dict[str, Asked] = {}
    models: _Tried | None = None
    gone: int = 0
    """What was made up to this event lay in a warehouse that is not there any more."""


def sync_sensor(job: str, specs: Iterable[dg.AssetSpec]) -> dg.SensorDefinition:
    """The sensor that starts the job of this name for these assets."""
    assets = in_order(specs)

    @dg.sensor(
        job_name=job,
        name="files",
        minimum_interval_seconds=timing.SENSOR_EVERY_S,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Starts a run when an agent wrote something: of the sources that"
        " changed, and of what is made from them. On by itself; switch it off to load"
        " by hand.",
    )
    def _files(
        context: dg.SensorEvaluationContext,
    ) -> dg.RunRequest | dg.SkipReason:
        if runs := unfinished(context.instance):
            return dg.SkipReason(f"run {runs[0].run_id[:8]} is queued or running")
        return tick(context, assets, time.time())

    return _files


def tick(
    context: dg.SensorEvaluationContext, assets: Sequence[Asset], now: float
) -> dg.RunRequest | dg.SkipReason:
    """What to run now."""
    lake = WarehouseResource(0.0)
    try:
        found = plans(lake.settings, os.environ)
    except UserError as error:
        return dg.SkipReason(str(error))
    if holder := other_ui(lake.settings.warehouse, os.environ):
        return dg.SkipReason(f"an `agentlake ui` looks after the warehouse ({holder})")
    cursor = _read(context.cursor)
    made = last_made(context.instance, assets)
    was_replaced = not lake.is_there()
    if not was_replaced and (load := recorded_load(_after(made, cursor.gone))):
        was_replaced = is_another(lake.settings.warehouse, load)
    if was_replaced:
        cursor.gone = newest(made)
    everything = _everything(assets, made, cursor.gone, now)
    made = _after(made, cursor.gone)
    baselines = {
        plan.adapter.SOURCE: baseline_of(made.get(_raw(plan.adapter.SOURCE)))
        for plan in found
    }
    snapshots = list(_scanned(context, found, now))
    decision = decide(snapshots, baselines, cursor.sources, now)
    cursor.sources = {
        one.source: ask(one, baselines[one.source], cursor.sources.get(one.source), now)
        for one in snapshots
        if one.source in decision.load
    } | {
        source: one
        for source, one in cursor.sources.items()
        if source not in decision.load
        and source in baselines
        and came_to_nothing(one, baselines[source])  # else it has served
    }
    late = out_of_date(assets, made)
    is_late = bool(late or everything)
    if is_late and (decision.load or _may_try(cursor.models, newest(made), now)):
        cursor.models = _next_try(cursor.models, newest(made), now)
    elif is_late:
        late, everything = [], ""
    else:
        cursor.models = None
    context.update_cursor(msgspec.json.encode(cursor).decode())
    tags = {BY: os.environ.get(PID, "")}
    if everything:
        return dg.RunRequest(tags={**tags, WHY: everything, CHECKS: ALL})
    if not decision.load and not late:
        wait = decision.wait_s
        return dg.SkipReason(
            "nothing changed" if wait is None else f"next one in {wait:.0f} s at least"
        )
    loaded = [_raw(source) for source in decision.load]
    return dg.RunRequest(
        asset_selection=[*loaded, *to_make(assets, late)],
        run_config=_run_config(decision.load),
        tags={**tags, WHY: _why(decision.load, late), CHECKS: TOUCHED},
    )


def _after(made: Mapping[dg.AssetKey, Made], number: int) -> dict[dg.AssetKey, Made]:
    """What was made after that event."""
    return {key: one for key, one in made.items() if one.number > number}


def _everything(
    assets: Sequence[Asset], made: Mapping[dg.AssetKey, Made], gone: int, now: float
) -> str:
    """Why everything is to be made and checked; nothing, if it need not be."""
    if not made:
        return "first run: everything"
    if not (left := _after(made, gone)):
        return "everything: the warehouse was deleted, replaced or restored"
    if missed_a_day(assets, left, now):
        return "everything: the daily run did not take place"
    return ""


def _scanned(
    context: dg.SensorEvaluationContext, found: Sequence[SourcePlan], now: float
) -> Iterable[Snapshot]:
    for plan in found:
        source = plan.adapter.SOURCE
        known = scanners.get(source)
        if known is None or known.plan != plan:
            known = scanners[source] = Scanner(plan)
        snapshot = known.scan(now)
        if snapshot.in_the_way and snapshot.in_the_way != _told.get(source):
            context.log.warning(f"{source}: {'; '.join(snapshot.in_the_way)}")
        _told[source] = snapshot.in_the_way
        yield snapshot


def _read(text: str | None) -> _Cursor:
    try:
        return msgspec.json.decode(text or "{}", type=_Cursor)
    except msgspec.MsgspecError:  # of an older version
        return _Cursor()


def _raw(source: str) -> dg.AssetKey:
    return dg.AssetKey(["raw", source])


def _may_try(tried: _Tried | None, number: int, now: float) -> bool:
    """Whether it is time to make again what a failed run left behind."""
    if tried is None or tried.newest != number:
        return True
    return now >= tried.at + delay(tried.tries, timing.RETRY_S)


def _next_try(tried: _Tried | None, number: int, now: float) -> _Tried:
    again = tried is not None and tried.newest == number
    return _Tried(number, tried.tries + 1 if tried and again else 1, now)


def _run_config(load: Mapping[str, frozenset[int] | None]) -> dict[str, object]:
    ops = {}
    for source, ids in load.items():
        if ids is not None and len(ids) <= _MOST_NAMED:
            keys = sorted(scanners[source].keys(ids))
            ops[raw_op(source)] = {"config": {STREAMS: keys}}
    return {"ops": ops} if ops else {}


def _why(load: Mapping[str, frozenset[int] | None], late: Sequence[dg.AssetKey]) -> str:
    """Which sources changed, and how many of their streams."""
    if len(load) > _MOST_TOLD:
        return f"{len(load)} sources changed"
    said = [
        source if ids is None else f"{source} ({counted(len(ids), 'stream')})"
        for source, ids in load.items()
    ]
    if not said:
        return f"{counted(len(late), 'asset')} out of date"
    return f"{', '.join(said)} changed"


def counted(number: int, noun: str) -> str:
    """`1 stream`, `2 streams`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
