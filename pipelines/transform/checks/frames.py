"""The facts as frames: types, nulls, smallest values and closed sets, by pandera."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from agentlake.models.dictionary.lookup import fact_entry
from agentlake.models.fact import Fact
from agentlake.models.frames import frame_schema
from agentlake.models.table import LINEAGE, stored_columns
from agentlake.pipelines.transform.checks.check import TRANSCRIPT, Check
from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.schema import LONG_TEXT

if TYPE_CHECKING:
    import polars as pl

_ROWS_AT_ONCE = 200_000

Failures = Counter[tuple[str, str, str]]
"""How many values of a column fail a check, by column, check and source."""


def frame_check(fact: type[Fact]) -> Check:
    """The check of one fact, with a query that finds what pandera finds."""
    return Check(
        table=f"staging.{fact.TABLE}",
        name="frame",
        description="New rows are as `models/` says: types, nulls, smallest values,"
        " closed sets of values (pandera).",
        bad_rows=_bad_rows(fact),
    )


def check_frames(
    connection: Connection, fact: type[Fact], since: int = 0
) -> tuple[int, Failures]:
    """Validate what was loaded after `since`: rows seen, failures by kind.

    A bounded number of rows is taken at a time.
    """
    name = f"staging.{fact.TABLE}"
    failures: Failures = Counter()
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
        for one in stored_columns(fact)
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


def _failures(frame: "pl.DataFrame", schema: Any) -> Failures:
    import pandera.errors

    try:
        schema.validate(frame, lazy=True)
    except pandera.errors.SchemaErrors as error:
        found: Failures = Counter()
        for case in error.failure_cases.iter_rows(named=True):
            index = case.get("index")
            source = "" if index is None else frame["source"][index]
            found[str(case["column"]), str(case["check"]), source or ""] += 1
        return found
    return Counter()


def _bad_rows(fact: type[Fact]) -> str:
    """The rows in which some value is not what its column allows."""
    lineage = [one.name for one in LINEAGE]
    conditions, named = [], []
    for one in stored_columns(fact):
        own = [f"{one.name} is null"] if one.required else []
        if one.at_least is not None:
            own.append(f"{one.name} < {one.at_least}")
        entry = fact_entry(fact, one.name)
        if entry and entry.values:
            allowed = ", ".join(f"'{value}'" for value in entry.values)
            own.append(f"{one.name} not in ({allowed})")
        if own and one.name not in {*TRANSCRIPT, *lineage}:
            named.append(one.name)
        conditions += own
    shown = ", ".join((*lineage, *named))
    return f"select {shown} from staging.{fact.TABLE} where {' or '.join(conditions)}"
