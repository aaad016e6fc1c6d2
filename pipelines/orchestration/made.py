"""What was made of the assets, as Dagster recorded it, and what is out of date."""

import json
from collections.abc import Iterable, Mapping, Sequence

import dagster as dg
import msgspec

from agentlake.pipelines import timing
from agentlake.pipelines.ingest.changes import Baseline
from agentlake.pipelines.orchestration.raw_assets import BASELINE
from agentlake.pipelines.orchestration.same_warehouse import LAST_LOAD
from agentlake.pipelines.orchestration.shown import asset_key
from agentlake.pipelines.transform.sql_models import models


class Asset(msgspec.Struct, frozen=True, kw_only=True):
    """What has to be known of an asset to find what is out of date."""

    key: dg.AssetKey
    reads: Sequence[dg.AssetKey]
    code_version: str | None
    is_view: bool


class Made(msgspec.Struct, frozen=True):
    """An asset's last successful materialization."""

    number: int
    """They count up."""
    at: float
    code_version: str | None
    metadata: Mapping[str, dg.MetadataValue]


def in_order(specs: Iterable[dg.AssetSpec]) -> list[Asset]:
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


def last_made(
    instance: dg.DagsterInstance, assets: Sequence[Asset]
) -> dict[dg.AssetKey, Made]:
    """The last materialization of those that have one."""
    made = {}
    for found in instance.get_asset_records([asset.key for asset in assets]):
        entry = found.asset_entry
        record, last = entry.last_materialization_record, entry.last_materialization
        if record is None or last is None or last.asset_materialization is None:
            continue
        event = last.asset_materialization
        version = (event.tags or {}).get("dagster/code_version")
        made[entry.asset_key] = Made(
            record.storage_id, record.timestamp, version, event.metadata
        )
    return made


def newest(made: Mapping[dg.AssetKey, Made]) -> int:
    """The number of the newest materialization."""
    return max((one.number for one in made.values()), default=0)


def baseline_of(made: Made | None) -> Baseline | None:
    """What the last load of a source recorded of it."""
    value = made.metadata.get(BASELINE) if made else None
    return None if value is None else Baseline.decoded(json.dumps(value.value))


def recorded_load(made: Mapping[dg.AssetKey, Made]) -> str:
    """The newest load of the warehouse, as the newest record of a source has it."""
    of_sources = [
        (one.number, str(value.value))
        for one in made.values()
        if (value := one.metadata.get(LAST_LOAD))
    ]
    return max(of_sources, default=(0, ""))[1]


def out_of_date(
    assets: Sequence[Asset], made: Mapping[dg.AssetKey, Made]
) -> list[dg.AssetKey]:
    """Assets that are older than what they read, or of other code.

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
    return late


def missed_a_day(
    assets: Sequence[Asset], made: Mapping[dg.AssetKey, Made], now: float
) -> bool:
    """Whether the daily run, which alone makes all views, did not take place.

    Dagster does not make good what a machine that was off has missed.
    """
    views = [made[one.key].at for one in assets if one.is_view and one.key in made]
    return bool(views) and now - min(views) > timing.DAILY_AT_MOST_S


def to_make(assets: Sequence[Asset], late: Sequence[dg.AssetKey]) -> list[dg.AssetKey]:
    """Staging and the tables of core, and whatever else is late.

    A view is as new as what it reads, and each asset costs Dagster a tenth of a second.
    """
    return [
        asset.key
        for asset in assets
        if not (asset.is_view or asset.key.path[0] == "raw") or asset.key in late
    ]
