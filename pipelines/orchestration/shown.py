"""Columns, rows and what came of a check, in Dagster's own words."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg

from agentlake.pipelines import timing
from agentlake.pipelines.transform.checks.check import (
    TRANSCRIPT,
    Check,
    Outcome,
    examples,
)
from agentlake.pipelines.transform.columns import Column
from agentlake.pipelines.warehouse.connect import Connection

OWNERS = ["team:agentlake"]
"""Who made the tables: Dagster shows it, and lets one search by it."""

FRESHNESS = dg.FreshnessPolicy.time_window(
    warn_window=timedelta(seconds=timing.MADE_LATELY_S),
    fail_window=timedelta(seconds=timing.MADE_LONG_AGO_S),
)
"""How old the last run of a source or a mart may be: `daily` makes all of them."""

ERROR, WARN = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN
SEVERITY = {"error": ERROR, "warn": WARN}


STEPS = "steps"
"""Where the helpers stand: last in the catalog, and folded in the lineage."""


def asset_key(table: str) -> dg.AssetKey:
    """The asset of a table: `core.usage` is core/usage, `core._forks` steps/_forks."""
    schema, name = table.split(".")
    return dg.AssetKey([STEPS if name.startswith("_") else schema, name])


def table_schema(columns: Sequence[Column]) -> dg.TableSchema:
    """The columns of a table."""
    return dg.TableSchema(
        [
            dg.TableColumn(
                one.name,
                one.type,
                one.text or None,
                dg.TableColumnConstraints(nullable=one.nullable, unique=one.is_key),
            )
            for one in columns
        ]
    )


def check_spec(check: Check) -> dg.AssetCheckSpec:
    """The check as Dagster announces it."""
    return dg.AssetCheckSpec(
        check.name, asset=asset_key(check.table), description=check.description
    )


def check_result(
    connection: Connection, outcome: Outcome, since: int = 0
) -> dg.AssetCheckResult:
    """What came of the check: some of its bad rows, and the query that finds all.

    `since` is the load after which rows were checked, 0 for all of them.
    """
    check = outcome.check
    metadata: dict[str, Any] = {"bad_rows": outcome.bad}
    if since:
        metadata["checked"] = f"what came after load {since}"
    if outcome.rows is not None:
        metadata["rows_checked"] = outcome.rows
    if outcome.bad:
        metadata["examples"] = as_table(examples(connection, check))
        metadata["query"] = dg.MetadataValue.md(f"```sql\n{check.bad_rows}\n```")
    return dg.AssetCheckResult(
        asset_key=asset_key(check.table),
        check_name=check.name,
        passed=outcome.is_good,
        severity=SEVERITY[check.severity],
        metadata=metadata,
        description=f"{outcome.bad:,} bad rows" if outcome.bad else None,
    )


def row_count(connection: Connection, table: str) -> int:
    """How many rows the table has now."""
    ((rows,),) = connection.execute(f"select count(*) from {table}").fetchall()
    return int(rows)


def table(connection: Connection, query: str) -> dg.TableMetadataValue:
    """The rows of a query, transcripts left out."""
    done = connection.execute(query)
    names = [column[0] for column in done.description or ()]
    return as_table([dict(zip(names, row, strict=True)) for row in done.fetchall()])


def as_table(rows: Sequence[Mapping[str, Any]]) -> dg.TableMetadataValue:
    """Rows as a table in the metadata, transcripts left out."""
    shown = [name for name in rows[0] if name not in TRANSCRIPT] if rows else []
    records = [
        dg.TableRecord({name: _plain(row[name]) for name in shown}) for row in rows
    ]
    return dg.TableMetadataValue(
        records, dg.TableSchema([dg.TableColumn(name) for name in shown])
    )


def _plain(value: object) -> str | int | float | bool | None:
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC).replace(tzinfo=None)} UTC"
    return value if isinstance(value, str | int | float | None) else str(value)
