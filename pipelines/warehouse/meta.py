"""What the warehouse knows of itself: its last load, and named values."""

from agentlake.pipelines.warehouse.connect import Connection


def last_load_id(connection: Connection) -> int:
    """The id of the last load that wrote something; 0 before the first."""
    rows = connection.execute("select coalesce(max(load_id), 0) from meta.loads")
    return int(rows.fetchall()[0][0])


def stored(connection: Connection, name: str) -> str | None:
    """The value of that name in `meta.settings`, if there is one."""
    rows = connection.execute(
        "select value from meta.settings where name = $1", [name]
    ).fetchall()
    return rows[0][0] if rows else None


def store(connection: Connection, name: str, value: str) -> None:
    """Set the value of that name; inside the caller's transaction."""
    connection.execute("delete from meta.settings where name = $1", [name])
    connection.execute("insert into meta.settings values ($1, $2)", [name, value])
