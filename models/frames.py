"""The facts as data frames: what is checked once, at the door from raw to staging.

pandera and Polars cost a second to import, so only who checks pays for them.
"""

from typing import TYPE_CHECKING, Any

from agentlake.models.fact import Fact
from agentlake.models.table import LINEAGE, columns

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
                checks=None
                if column.at_least is None
                else pa.Check.ge(column.at_least),
                nullable=not column.required,
            )
            for column in (*LINEAGE, *columns(fact))
        },
        name=fact.TABLE,
        strict=True,
    )
