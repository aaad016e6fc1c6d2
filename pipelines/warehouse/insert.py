"""Insert rows that Python made: by column through Arrow, never one by one."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from agentlake.pipelines.warehouse.connect import Connection


def insert_arrow(connection: Connection, table: str, rows: pa.Table) -> None:
    """Insert the rows of an Arrow table; its columns go by name."""
    connection.register("_rows", rows)
    connection.execute(f"insert into {table} by name select * from _rows")
    connection.unregister("_rows")


def insert_columns(
    connection: Connection, table: str, columns: Mapping[str, Sequence[Any]]
) -> None:
    """Insert rows given by column; Arrow finds the types."""
    arrays = {name: pa.array(values) for name, values in columns.items()}
    insert_arrow(connection, table, pa.table(arrays))
