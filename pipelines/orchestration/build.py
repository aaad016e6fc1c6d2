"""Put the assets, the checks, the job and the resource together."""

import os
from collections.abc import Mapping

import dagster as dg
import duckdb

from agentlake.adapters.registry import adapters
from agentlake.pipelines.orchestration.model_assets import model_assets
from agentlake.pipelines.orchestration.raw_assets import raw_asset
from agentlake.pipelines.orchestration.sensor import sync_sensor
from agentlake.pipelines.orchestration.sql_checks import sql_checks
from agentlake.pipelines.orchestration.staging_assets import staging_assets
from agentlake.pipelines.orchestration.tags import BY_HAND, WHY
from agentlake.pipelines.orchestration.upkeep import (
    health_job,
    housekeeping,
    replay,
    schedules,
)
from agentlake.pipelines.orchestration.warehouse_resource import warehouse_resource
from agentlake.pipelines.settings.open import use_own_adapters
from agentlake.pipelines.transform.columns import bound


def build_defs(overrides: Mapping[str, object] | None = None) -> dg.Definitions:
    """Everything that Dagster shows; `overrides` are resources in place of ours."""
    use_own_adapters(os.environ)
    sources = adapters()
    with duckdb.connect() as binder:
        types = bound(binder)
        assets = [
            *(raw_asset(source, adapter, types) for source, adapter in sources.items()),
            staging_assets(list(sources), types),
            *model_assets(types, binder),
        ]
        checks = sql_checks(binder)
    sync = dg.define_asset_job(
        "sync",
        dg.AssetSelection.all(),
        tags={WHY: BY_HAND},
        description="Load what changed on disk and bring everything up to date.",
    )
    specs = [spec for one in assets for spec in one.specs]
    return dg.Definitions(
        assets=assets,
        asset_checks=checks,
        jobs=[sync, health_job(sources), housekeeping, replay],
        schedules=schedules(sync.name),
        sensors=[sync_sensor(sync.name, specs)],
        resources={"lake": warehouse_resource, **(overrides or {})},
        executor=dg.in_process_executor,
    )
