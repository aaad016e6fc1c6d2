"""Checks of one source: streams, records and types of record that need somebody.

Most count rows of `meta` and list some of them; one compares the disk with the
checkpoints. None stops a run, since what it finds is kept in raw and tried again.
"""

from collections.abc import Iterator, Set
from typing import Any

import dagster as dg
import msgspec

from agentlake.pipelines import timing
from agentlake.pipelines.health import SourceHealth, told, unloaded
from agentlake.pipelines.ingest.listing import Listing, SourcePlan, list_streams
from agentlake.pipelines.ingest.plan import compare
from agentlake.pipelines.literal import literal
from agentlake.pipelines.orchestration.shown import ERROR, WARN, table
from agentlake.pipelines.transform.checks.check import SHOWN_ROWS
from agentlake.pipelines.warehouse.connect import Connection


class _Check(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    description: str
    rows: str
    """What it counts, as after `from`; `{source}` is the source as SQL writes it."""
    listed: str
    """What is selected of them for the list, and how it is put together."""
    count_name: str
    list_name: str
    found: str
    """What it says of rows that it found, with their `{count}`."""


_CHECKS = (
    _Check(
        name="all_streams_read",
        description="No stream waits to be read.",
        rows="meta.streams where source = {source} and status = 'deferred'",
        listed="select path, reason from {rows}",
        count_name="deferred_streams",
        list_name="streams",
        found="{count:,} streams wait to be read",
    ),
    _Check(
        name="all_records_understood",
        description="No record, or part of one, was rejected; all are kept in raw.",
        rows="meta.rejects where source = {source}",
        listed="select reason, count(*) as rejects, max(load_id) as last_load_id"
        " from {rows} group by all order by rejects desc",
        count_name="rejects",
        list_name="reasons",
        found="{count:,} rejects, kept in raw",
    ),
    _Check(
        name="all_types_known",
        description="The agent writes no type of record that its adapter neither uses"
        " nor ignores.",
        rows="meta.unknown_records where source = {source}",
        listed="select type, count(*) as records from {rows}"
        " group by all order by records desc, type",
        count_name="records",
        list_name="types",
        found="{count:,} records of unknown types",
    ),
)


HEALTH = "nothing_left_behind"
_HEALTH_TEXT = (
    "What was written more than a day ago is loaded, and nothing that is not loaded is"
    " about to be deleted by the agent."
)


def source_check_specs(key: dg.AssetKey) -> list[dg.AssetCheckSpec]:
    """The checks of the asset of a source."""
    return [
        *(
            dg.AssetCheckSpec(one.name, asset=key, description=one.description)
            for one in _CHECKS
        ),
        dg.AssetCheckSpec(HEALTH, asset=key, description=_HEALTH_TEXT),
    ]


def source_check_results(
    connection: Connection,
    source: str,
    key: dg.AssetKey,
    asked: Set[dg.AssetCheckKey],
    *,
    plan: SourcePlan | None,
    listing: Listing | None,
) -> Iterator[dg.AssetCheckResult]:
    """What those of them find that are asked for.

    `plan` is None for a source that is switched off; `listing` is what a load found.
    """
    for one in _CHECKS:
        if dg.AssetCheckKey(key, one.name) in asked:
            yield _result(connection, one, source, key)
    if dg.AssetCheckKey(key, HEALTH) in asked:
        yield _left_behind(connection, key, plan, listing)


def _left_behind(
    connection: Connection,
    key: dg.AssetKey,
    plan: SourcePlan | None,
    listing: Listing | None,
) -> dg.AssetCheckResult:
    """Whether everything on disk is loaded, and nothing about to be lost."""
    if plan is None:
        return dg.AssetCheckResult(
            asset_key=key,
            check_name=HEALTH,
            passed=True,
            description="switched off in the settings",
        )
    periods = told(plan, SourceHealth(source=plan.adapter.SOURCE, enabled=True))
    on_disk = compare(connection, plan, listing or list_streams(plan), load_id=0)
    found = unloaded(on_disk, periods)
    late = (found.oldest_age_days or 0) >= timing.LATE_DAYS
    metadata: dict[str, Any] = {
        "streams_not_loaded": found.streams,
        "about_to_be_lost": found.about_to_be_lost,
    }
    if found.oldest_age_days is not None:
        metadata["oldest_days"] = found.oldest_age_days
        metadata["oldest"] = dg.MetadataValue.path(found.oldest_path or "")
    return dg.AssetCheckResult(
        asset_key=key,
        check_name=HEALTH,
        passed=not late and not found.about_to_be_lost,
        severity=ERROR if found.about_to_be_lost else WARN,
        metadata=metadata,
    )


def _result(
    connection: Connection, check: _Check, source: str, key: dg.AssetKey
) -> dg.AssetCheckResult:
    rows = check.rows.format(source=literal(source))
    ((count,),) = connection.execute(f"select count(*) from {rows}").fetchall()
    metadata: dict[str, Any] = {check.count_name: count}
    if count:
        listed = check.listed.format(rows=rows)
        metadata[check.list_name] = table(connection, f"{listed} limit {SHOWN_ROWS}")
    return dg.AssetCheckResult(
        asset_key=key,
        check_name=check.name,
        passed=not count,
        severity=WARN,
        metadata=metadata,
        description=check.found.format(count=count) if count else None,
    )
