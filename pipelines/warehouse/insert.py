"""Insert rows that Python made: by column through Arrow, never one by one."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from agentlake.pipelines.warehouse.connect import Connection


def insert_columns(
    connection: Connection, table: str, columns: Mapping[str, Sequence[Any] | pa.Array]
) -> None:
    """Insert rows given by column, each as values or as an array; by name."""
    arrays = {
        name: values if isinstance(values, pa.Array) else pa.array(values)
        for name, values in columns.items()
    }
    connection.register("_rows", pa.table(arrays))
    connection.execute(f"insert into {table} by name select * from _rows")
    connection.unregister("_rows")
