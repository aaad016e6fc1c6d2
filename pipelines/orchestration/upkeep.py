"""What keeps the whole in order: health, old runs, space, and replay from the UI."""

import os
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import dagster as dg
from dagster import DagsterRunStatus
from dagster._core.definitions.unresolved_asset_job_definition import (
    UnresolvedAssetJobDefinition,
)

from agentlake.pipelines import timing
from agentlake.pipelines.orchestration.source_checks import HEALTH
from agentlake.pipelines.orchestration.tags import BY_HAND, WHY
from agentlake.pipelines.orchestration.warehouse_resource import (
    WarehouseResource,
    plain_errors,
)
from agentlake.pipelines.settings.time_zone import machine_time_zone
from agentlake.pipelines.sync import replay_sources

KEEP_RUNS = 100
_AT_ONCE = 1000


@dg.op(
    description="Delete all but the last runs, with their events and logs: each takes"
    " half a megabyte. What the assets know of their last run stays."
)
def delete_old_runs(context: dg.OpExecutionContext) -> None:
    """Keep the newest, and those that failed lately."""
    instance = context.instance
    folder = Path(instance.root_directory)
    deleted = 0
    for run_id in old_runs(instance, time.time()):
        if run_id != context.run_id:
            instance.delete_run(run_id)
            for path in folder.glob(f"history/runs/{run_id}.db*"):
                path.unlink(missing_ok=True)
            shutil.rmtree(folder / "storage" / run_id, ignore_errors=True)
            deleted += 1
    if deleted:
        for path in (folder / "history/runs/index.db", folder / "history/runs.db"):
            # Somebody else reads or writes: it is done next time.
            with suppress(sqlite3.OperationalError):
                if path.exists():
                    with closing(sqlite3.connect(path, timeout=5)) as connection:
                        connection.execute("vacuum")
    context.log.info(f"{deleted:,} old runs deleted, {_bytes(folder):,} bytes are left")


def old_runs(instance: dg.DagsterInstance, now: float) -> Iterator[str]:
    """The runs that nobody needs any more."""
    done = dg.RunsFilter(
        statuses=[
            DagsterRunStatus.SUCCESS,
            DagsterRunStatus.FAILURE,
            DagsterRunStatus.CANCELED,
        ]
    )
    records = instance.get_run_records(done, limit=KEEP_RUNS + _AT_ONCE)
    for record in records[KEEP_RUNS:]:
        age = now - record.create_timestamp.timestamp()
        failed = record.dagster_run.status == DagsterRunStatus.FAILURE
        if not failed or age > timing.KEEP_FAILED_RUNS_S:
            yield record.dagster_run.run_id


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@dg.op(
    description="Make the file smaller if most of it is free blocks: DuckDB never does."
)
def tidy_warehouse(
    context: dg.OpExecutionContext, lake: dg.ResourceParam[WarehouseResource]
) -> None:
    """Nothing, if nothing was ever loaded."""
    with plain_errors():
        if not lake.is_there():
            context.log.info("nothing was loaded yet")
            return
        done = lake.compact()
    context.log.info(
        f"{done.before:,} bytes, {done.free:,} of them free, are {done.after:,} now"
    )
    context.add_output_metadata(
        {
            "bytes_before": done.before,
            "bytes_free": done.free,
            "bytes": done.after,
        }
    )


@dg.op(
    config_schema={
        "source": dg.Field(
            str,
            is_required=False,
            description="Only this source: claude_code, codex, ...; all if left out.",
        )
    },
    description="Parse what is in raw again and bring all models up to date. The"
    " agents' files are not needed.",
)
def parse_again(
    context: dg.OpExecutionContext, lake: dg.ResourceParam[WarehouseResource]
) -> None:
    """What `agentlake replay` does."""
    source = context.op_config.get("source")
    with plain_errors():
        done = replay_sources(lake.settings, [source] if source else None)
    for one in done.report.sources.values():
        context.log.info(f"{one.source}: {one.replayed:,} records parsed again")
    context.add_output_metadata(
        {"records": done.report.total("replayed"), "bytes": done.bytes}
    )


@dg.job(
    tags={WHY: BY_HAND},
    description="Delete old runs of Dagster itself, and give back the space that the"
    " warehouse does not need.",
)
def housekeeping() -> None:
    """What neither Dagster nor DuckDB does by itself."""
    delete_old_runs()
    tidy_warehouse()


@dg.job(
    tags={WHY: BY_HAND},
    description="Parse all records, or those of one source, again: see its launchpad.",
)
def replay() -> None:
    """From raw, as after a change of a parser."""
    parse_again()


def health_job(sources: Iterable[str]) -> UnresolvedAssetJobDefinition:
    """The checks of all sources, and nothing else."""
    keys = [
        dg.AssetCheckKey(dg.AssetKey(["raw", source]), HEALTH) for source in sources
    ]
    return dg.define_asset_job(
        "health",
        dg.AssetSelection.checks(*keys),
        tags={WHY: BY_HAND},
        description="Ask each source whether something was left behind.",
    )


def schedules(sync: str) -> list[dg.ScheduleDefinition]:
    """Day by day, in the zone of this machine; on by themselves."""
    zone = machine_time_zone(os.environ)
    on = dg.DefaultScheduleStatus.RUNNING
    daily = (
        ("health", "0 4 * * *", "health", "Was something left behind?"),
        ("daily", "15 4 * * *", sync, "Everything once, with all checks and prices."),
        ("housekeeping", "45 */3 * * *", "housekeeping", "Old runs and space."),
    )
    return [
        dg.ScheduleDefinition(
            name=name,
            cron_schedule=cron,
            job_name=job,
            execution_timezone=zone,
            tags={WHY: f"schedule {name}"},
            default_status=on,
            description=about,
        )
        for name, cron, job, about in daily
    ]
