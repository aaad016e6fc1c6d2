"""The facts as data frames: what is checked once, when they come from raw.

pandera and Polars cost a second to import, so only who checks pays for them.
"""

from typing import TYPE_CHECKING, Any

from agentlake.models.dictionary.lookup import fact_entry
from agentlake.models.fact import Fact
from agentlake.models.table import Column, stored_columns

if TYPE_CHECKING:
    import pandera.polars as pa


def frame_schema(fact: type[Fact]) -> "pa.DataFrameSchema":
    """The fact's table as a frame: every column, its type, what it may not be.

    Hand it a DataFrame: of a LazyFrame pandera checks the types alone.
    """
    import pandera.polars as pa
    import polars as pl

    types: dict[str, Any] = {
        "varchar": pl.String,
        "bigint": pl.Int64,
        "double": pl.Float64,
        "boolean": pl.Boolean,
        "timestamptz": pl.Datetime("us", "UTC"),
    }
    return pa.DataFrameSchema(
        {
            column.name: pa.Column(
                types[column.sql_type],
                checks=_checks(fact, column),
                nullable=not column.required,
            )
            for column in stored_columns(fact)
        },
        name=fact.TABLE,
        strict=True,
    )


def _checks(fact: type[Fact], column: Column) -> "list[pa.Check]":
    import pandera.polars as pa

    checks = []
    if column.at_least is not None:
        checks.append(pa.Check.ge(column.at_least))
    entry = fact_entry(fact, column.name)
    if entry and entry.values:
        checks.append(pa.Check.isin(list(entry.values)))
    return checks
