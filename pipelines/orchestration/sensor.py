"""The sensor: one run for all that changed on disk, or that a failed run left behind.

Level-triggered: it compares the disk with what the last successful materialization of
each source recorded, and each model with what it reads. So a failed run, a restart or
a kill never loses a change. Its cursor holds back-off, and which records not to believe
because their warehouse is gone.
"""

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence

import dagster as dg
import msgspec

from agentlake.errors import UserError
from agentlake.pipelines import timing
from agentlake.pipelines.ingest.changes import (
    Asked,
    Baseline,
    ask,
    came_to_nothing,
    decide,
    delay,
)
from agentlake.pipelines.ingest.listing import SourcePlan
from agentlake.pipelines.ingest.scanner import Scanner, Snapshot
from agentlake.pipelines.orchestration.raw_assets import BASELINE, STREAMS, raw_op
from agentlake.pipelines.orchestration.runs import BY, unfinished
from agentlake.pipelines.orchestration.shown import asset_key
from agentlake.pipelines.orchestration.through import CHECKS, TOUCHED
from agentlake.pipelines.orchestration.warehouse_resource import WarehouseResource
from agentlake.pipelines.sync import plans
from agentlake.pipelines.transform.sql_models import models
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
    """What was made up to this event lay in a warehouse that somebody deleted."""


class Asset(msgspec.Struct, frozen=True, kw_only=True):
    """What has to be known of an asset to find what is out of date."""

    key: dg.AssetKey
    reads: Sequence[dg.AssetKey]
    code_version: str | None
    is_view: bool


def sync_sensor(job: str, specs: Iterable[dg.AssetSpec]) -> dg.SensorDefinition:
    """The sensor that starts the job of this name for these assets."""
    assets = _in_order(specs)

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


def _in_order(specs: Iterable[dg.AssetSpec]) -> list[Asset]:
    """The assets, each after those that it reads."""
    by_key = {spec.key: spec for spec in specs}
    order = [key for key in by_key if key.path[0] in ("raw", "staging")]
    order.sort()
    order += [asset_key(name) for name in models()]
    return [
        Asset(
            key=key,
            reads=[dep.asset_key for dep in by_key[key].deps],
            code_version=by_key[key].code_version,
            is_view=by_key[key].is_virtual,
        )
        for key in order
    ]


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
    made = _made(context.instance, assets)
    if not lake.is_there():
        cursor.gone = max((one.number for one in made.values()), default=0)
    made = {key: one for key, one in made.items() if one.number > cursor.gone}
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
    late, newest = out_of_date(assets, made)
    if late and (decision.load or _may_try(cursor.models, newest, now)):
        cursor.models = _next_try(cursor.models, newest, now)
    elif late:
        late = []
    else:
        cursor.models = None
    context.update_cursor(msgspec.json.encode(cursor).decode())
    if not decision.load and not late:
        wait = decision.wait_s
        return dg.SkipReason(
            "nothing changed" if wait is None else f"next one in {wait:.0f} s at least"
        )
    loaded = [_raw(source) for source in decision.load]
    return dg.RunRequest(
        asset_selection=[*loaded, *_made_from(assets, late)],
        run_config=_run_config(decision.load),
        tags={
            "agentlake/why": _why(decision.load, late),
            CHECKS: TOUCHED,
            BY: os.environ.get(PID, ""),
        },
    )


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


class Made(msgspec.Struct, frozen=True):
    """An asset's last successful materialization."""

    number: int
    """They count up."""
    code_version: str | None
    metadata: Mapping[str, dg.MetadataValue]


def _made(
    instance: dg.DagsterInstance, assets: Sequence[Asset]
) -> dict[dg.AssetKey, Made]:
    made = {}
    for found in instance.get_asset_records([asset.key for asset in assets]):
        entry = found.asset_entry
        record, last = entry.last_materialization_record, entry.last_materialization
        if record is None or last is None or last.asset_materialization is None:
            continue
        event = last.asset_materialization
        version = (event.tags or {}).get("dagster/code_version")
        made[entry.asset_key] = Made(record.storage_id, version, event.metadata)
    return made


def baseline_of(made: Made | None) -> Baseline | None:
    """What the last load of a source recorded of it."""
    value = made.metadata.get(BASELINE) if made else None
    return None if value is None else Baseline.decoded(json.dumps(value.value))


def out_of_date(
    assets: Sequence[Asset], made: Mapping[dg.AssetKey, Made]
) -> tuple[list[dg.AssetKey], int]:
    """Assets that are older than what they read, or of other code; the newest event.

    A view need not be made again for new rows: it is as new as what it reads.
    """
    late: list[dg.AssetKey] = []
    numbers: dict[dg.AssetKey, int] = {}
    for asset in assets:
        if asset.key.path[0] == "raw":
            numbers[asset.key] = made[asset.key].number if asset.key in made else 0
            continue
        one = made.get(asset.key)
        parents = max((numbers.get(key, 0) for key in asset.reads), default=0)
        # Where an asset has no version, Dagster writes one of its own.
        version = asset.code_version
        is_other = one is None or (version and one.code_version != version)
        numbers[asset.key] = own = one.number if one else 0
        if asset.is_view:
            numbers[asset.key] = parents
        if is_other or (not asset.is_view and own < parents):
            late.append(asset.key)
    return late, max((one.number for one in made.values()), default=0)


def _made_from(
    assets: Sequence[Asset], late: Sequence[dg.AssetKey]
) -> list[dg.AssetKey]:
    """Staging and the tables of core, and whatever else is late.

    A view is as new as what it reads, and each asset costs Dagster a tenth of a second.
    """
    return [
        asset.key
        for asset in assets
        if asset.key.path[0] == "staging"
        or (asset.key.path[0] == "core" and not asset.is_view)
        or asset.key in late
    ]


def _may_try(tried: _Tried | None, newest: int, now: float) -> bool:
    """Whether it is time to make again what a failed run left behind."""
    if tried is None or tried.newest != newest:
        return True
    return now >= tried.at + delay(tried.tries, timing.RETRY_S)


def _next_try(tried: _Tried | None, newest: int, now: float) -> _Tried:
    again = tried is not None and tried.newest == newest
    return _Tried(newest, tried.tries + 1 if tried and again else 1, now)


def _run_config(load: Mapping[str, frozenset[int] | None]) -> dict[str, object]:
    ops = {}
    for source, ids in load.items():
        if ids is not None and len(ids) <= _MOST_NAMED:
            keys = sorted(scanners[source].keys(ids))
            ops[raw_op(source)] = {"config": {STREAMS: keys}}
    return {"ops": ops} if ops else {}


def _why(load: Mapping[str, frozenset[int] | None], late: Sequence[dg.AssetKey]) -> str:
    if len(load) > _MOST_TOLD:
        return f"{len(load)} sources"
    said = [
        source if ids is None else f"{source}: {len(ids)}"
        for source, ids in load.items()
    ]
    return ", ".join(said) or f"{len(late)} assets out of date"
