"""staging/<fact>: the typed facts, looked at.

They are written by the load, in the transaction of their records; here they are
counted, and checked at the door.
"""

import inspect
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import dagster as dg

from agentlake.models.fact import Fact
from agentlake.models.frames import frame_schema
from agentlake.models.table import FACTS, LINEAGE, columns
from agentlake.pipelines.orchestration.checks import ERROR, SHOWN_ROWS, as_table, table
from agentlake.pipelines.orchestration.columns import OWNERS, Types, staging_schema
from agentlake.pipelines.orchestration.lake import Lake, told_plainly
from agentlake.pipelines.orchestration.raw_assets import code_reference
from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.meta import last_load_id
from agentlake.pipelines.warehouse.schema import LONG_TEXT

if TYPE_CHECKING:
    import polars as pl

_ROWS_AT_ONCE = 200_000
_THROUGH = "checked_through_load"
_Failures = Counter[tuple[str, str, str]]


def staging_assets(sources: Sequence[str], types: Types) -> dg.AssetsDefinition:
    """One asset per kind of fact; each holds the facts of all sources.

    One op looks at all of them: a step of its own for each would cost more than
    the look.
    """

    @dg.multi_asset(
        name="staging",
        specs=[_spec(fact, sources, types) for fact in FACTS],
        check_specs=[_door(fact) for fact in FACTS],
        can_subset=True,
    )
    def _look(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> Iterator[Any]:
        with told_plainly():
            for fact in FACTS:
                yield from _looked_at(context, lake.connection, fact)

    return _look


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
            "dagster/column_schema": staging_schema(fact, types),
            **code_reference(inspect.getfile(fact), "the fact"),
        },
    )


def _door(fact: type[Fact]) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(
        "frame",
        asset=_key(fact),
        description="New rows are as `models/` says: types, nulls, smallest values"
        " (pandera).",
    )


def _key(fact: type[Fact]) -> dg.AssetKey:
    return dg.AssetKey(["staging", fact.TABLE])


def _looked_at(
    context: dg.AssetExecutionContext, connection: Connection, fact: type[Fact]
) -> Iterator[Any]:
    key = _key(fact)
    is_asset_asked = key in context.selected_asset_keys
    since = _checked_through(context, key) if is_asset_asked else 0
    through = last_load_id(connection)
    if since > through:
        since = 0  # that was another warehouse
    if _door(fact).key in context.selected_asset_check_keys:
        result = _at_the_door(connection, fact, key, since)
        if not result.passed:
            through = since  # wrong rows are shown until they are gone
        yield result
    else:
        through = since
    if is_asset_asked:
        metadata = {**_counted(connection, fact), _THROUGH: through}
        yield dg.MaterializeResult(asset_key=key, metadata=metadata)


def _checked_through(context: dg.AssetExecutionContext, key: dg.AssetKey) -> int:
    """The load up to which all rows were found good."""
    event = context.instance.get_latest_materialization_event(key)
    if event is None or event.asset_materialization is None:
        return 0
    value = event.asset_materialization.metadata.get(_THROUGH)
    return value.value if isinstance(value, dg.IntMetadataValue) and value.value else 0


def _counted(connection: Connection, fact: type[Fact]) -> dict[str, Any]:
    name = f"staging.{fact.TABLE}"
    ((rows, last),) = connection.execute(
        f"select count(*), max(load_id) from {name}"
    ).fetchall()
    metadata: dict[str, Any] = {"dagster/row_count": rows}
    if rows:
        metadata["last_load_id"] = last
        metadata["by_source"] = table(
            connection,
            "select source, count(*) as rows, count(distinct stream_id) as streams,"
            f" max(load_id) as last_load_id from {name} group by all order by source",
        )
    return metadata


def _at_the_door(
    connection: Connection, fact: type[Fact], key: dg.AssetKey, since: int
) -> dg.AssetCheckResult:
    """Check the rows of all loads after `since`, a bounded number at a time."""
    rows, failures = check_frames(connection, fact, since)
    bad = sum(failures.values())
    metadata: dict[str, Any] = {"rows_checked": rows, "bad_values": bad}
    if since:
        metadata["since_load_id"] = since
    if bad:
        names = ["column", "check", "source", "values"]
        shown = [
            dict(zip(names, (*case, count), strict=True))
            for case, count in failures.most_common(SHOWN_ROWS)
        ]
        metadata["failures"] = as_table(shown, names)
    return dg.AssetCheckResult(
        asset_key=key,
        check_name="frame",
        passed=not bad,
        severity=ERROR,
        metadata=metadata,
        description=f"{bad:,} bad values" if bad else None,
    )


def check_frames(
    connection: Connection, fact: type[Fact], since: int
) -> tuple[int, _Failures]:
    """Validate what was loaded after `since`: rows seen, failures by kind."""
    name = f"staging.{fact.TABLE}"
    failures: _Failures = Counter()
    ((rows, end),) = connection.execute(
        f"select count(*), max(rowid) + 1 from {name} where load_id > {since}"
    ).fetchall()
    if not rows:
        return 0, failures
    import polars as pl  # a run that loaded nothing does without

    schema = frame_schema(fact)
    # Whether a text is there is asked, what it says is not: it stays where it is.
    wanted = ", ".join(
        f"left({one.name}, 0) as {one.name}" if one.name in LONG_TEXT else one.name
        for one in (*LINEAGE, *columns(fact))
    )
    moments = pl.col(pl.Datetime("us", "*"))  # they arrive in the zone of this machine
    for low in range(0, end, _ROWS_AT_ONCE):
        rows_at_once = connection.sql(
            f"select {wanted} from {name} where load_id > {since}"
            f" and rowid >= {low} and rowid < {low + _ROWS_AT_ONCE}"
        )
        frame = pl.DataFrame(rows_at_once)
        if not frame.is_empty():
            in_utc = frame.with_columns(moments.dt.convert_time_zone("UTC"))
            failures += _failures(in_utc, schema)
    return rows, failures


def _failures(frame: "pl.DataFrame", schema: Any) -> _Failures:
    import pandera.errors

    try:
        schema.validate(frame, lazy=True)
    except pandera.errors.SchemaErrors as error:
        found: _Failures = Counter()
        for case in error.failure_cases.iter_rows(named=True):
            index = case.get("index")
            source = "" if index is None else frame["source"][index]
            found[str(case["column"]), str(case["check"]), source or ""] += 1
        return found
    return Counter()
