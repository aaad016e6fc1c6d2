"""staging/<fact>: the typed facts, validated.

They are written by the load, in the transaction of their records; here those of the
last loads are counted, and checked against `models/`.
"""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from agentlake.models.fact import Fact
from agentlake.models.table import FACTS
from agentlake.pipelines.orchestration.raw_assets import code_reference
from agentlake.pipelines.orchestration.shown import (
    ERROR,
    OWNERS,
    as_table,
    asset_key,
    check_spec,
    row_count,
    table,
    table_schema,
)
from agentlake.pipelines.orchestration.through import (
    checked_through,
    through_metadata,
)
from agentlake.pipelines.orchestration.warehouse_resource import (
    WarehouseResource,
    plain_errors,
)
from agentlake.pipelines.transform.checks.check import SHOWN_ROWS
from agentlake.pipelines.transform.checks.frames import check_frames, frame_check
from agentlake.pipelines.transform.columns import Types, fact_columns
from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.meta import last_load_id


def staging_assets(sources: Sequence[str], types: Types) -> dg.AssetsDefinition:
    """One asset per kind of fact; each holds the facts of all sources.

    One op validates all of them: a step of its own for each would cost more than
    what it does.
    """

    @dg.multi_asset(
        name="staging",
        specs=[_spec(fact, sources, types) for fact in FACTS],
        check_specs=[check_spec(frame_check(fact)) for fact in FACTS],
        can_subset=True,
    )
    def _validate(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[WarehouseResource]
    ) -> Iterator[Any]:
        with plain_errors():
            for fact in FACTS:
                yield from _validated(context, lake.connection, fact)

    return _validate


def _spec(fact: type[Fact], sources: Sequence[str], types: Types) -> dg.AssetSpec:
    return dg.AssetSpec(
        _key(fact),
        deps=[dg.AssetKey(["raw", source]) for source in sources],
        description=f"{inspect.getdoc(fact)}\n\nWritten by the load in the"
        " transaction of its records: every occurrence on disk, copies included.",
        group_name="staging",
        owners=OWNERS,
        kinds={"python", "duckdb"},
        metadata={
            "dagster/table_name": f"staging.{fact.TABLE}",
            "dagster/column_schema": table_schema(fact_columns(fact, types)),
            **code_reference(inspect.getfile(fact), "the fact"),
        },
    )


def _key(fact: type[Fact]) -> dg.AssetKey:
    return asset_key(f"staging.{fact.TABLE}")


def _validated(
    context: dg.AssetExecutionContext, connection: Connection, fact: type[Fact]
) -> Iterator[Any]:
    key = _key(fact)
    is_asset_asked = key in context.selected_asset_keys
    head = last_load_id(connection)
    through = checked_through(context, key, head)
    if check_spec(frame_check(fact)).key in context.selected_asset_check_keys:
        since = through if is_asset_asked else 0
        result = _frame_result(connection, fact, key, since)
        if result.passed:
            through = head
        yield result
    if is_asset_asked:
        metadata = {**_counted(connection, fact), **through_metadata(through)}
        yield dg.MaterializeResult(asset_key=key, metadata=metadata)


def _counted(connection: Connection, fact: type[Fact]) -> dict[str, Any]:
    name = f"staging.{fact.TABLE}"
    metadata: dict[str, Any] = {"dagster/row_count": row_count(connection, name)}
    if metadata["dagster/row_count"]:
        metadata["by_source"] = table(
            connection,
            "select source, count(*) as rows, count(distinct stream_id) as streams,"
            f" max(load_id) as last_load_id from {name} group by all order by source",
        )
    return metadata


def _frame_result(
    connection: Connection, fact: type[Fact], key: dg.AssetKey, since: int
) -> dg.AssetCheckResult:
    """Check the rows of all loads after `since`, a bounded number at a time."""
    rows, failures = check_frames(connection, fact, since)
    bad = sum(failures.values())
    metadata: dict[str, Any] = {"rows_checked": rows, "bad_values": bad}
    if since:
        metadata["checked"] = f"what came after load {since}"
    if bad:
        names = ["column", "check", "source", "values"]
        shown = [
            dict(zip(names, (*case, count), strict=True))
            for case, count in failures.most_common(SHOWN_ROWS)
        ]
        metadata["failures"] = as_table(shown)
    return dg.AssetCheckResult(
        asset_key=key,
        check_name="frame",
        passed=not bad,
        severity=ERROR,
        metadata=metadata,
        description=f"{bad:,} bad values" if bad else None,
    )
