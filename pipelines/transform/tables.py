"""The table or view of a model: making it beside the old one, putting it in place."""

from agentlake.pipelines.transform.sql_models import LINEAGE, Model
from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.schema import LONG_TEXT

_TYPES = {"view": "VIEW", "table": "BASE TABLE"}


def beside(model: Model) -> str:
    """The name of a table that will take the place of the model's own."""
    schema, name = model.name.split(".")
    return f"{schema}._new_{name}"


def creation(connection: Connection, model: Model, table: str) -> str:
    """The statement for an empty table of the model: the query's own column types.

    `create table as` would lose the compression of long text.
    """
    described = connection.execute(f"describe {model.query}").fetchall()
    columns = [
        f'"{name}" {kind}{" using compression zstd" if name in LONG_TEXT else ""}'
        for name, kind, *_ in described
    ]
    return f"create table {table} ({', '.join([*columns, *LINEAGE])})"


def is_there(connection: Connection, model: Model, kind: str) -> bool:
    """Whether there is a view, or a table, of the model's name."""
    found = connection.execute(
        "select 1 from information_schema.tables"
        " where table_catalog = current_database()"
        " and table_schema || '.' || table_name = $1 and table_type = $2",
        [model.name, _TYPES[kind]],
    )
    return bool(found.fetchall())


def drop(connection: Connection, model: Model, kind: str) -> None:
    """Drop what earlier SQL made under this name, if it is of that kind."""
    if is_there(connection, model, kind):
        connection.execute(f"drop {kind} {model.name}")


def put_in_place(connection: Connection, model: Model, made: str) -> None:
    """Let a table that was made beside take the place of the old one."""
    drop(connection, model, "view")
    drop(connection, model, "table")
    connection.execute(f"alter table {made} rename to {model.name.split('.')[1]}")
