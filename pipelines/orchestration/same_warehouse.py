"""Whether the warehouse is still the one that Dagster's records speak of.

A backup that was restored, or another file in its place, knows nothing of the last
loads that are recorded here, or knows others under their numbers.
"""

from pathlib import Path

import duckdb

from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.files import vault_of

LAST_LOAD = "last_load"
"""The metadata of a source that names the newest load of the warehouse."""
_LOAD = "load_id || ' at ' || epoch_us(started_at)"

_known: dict[tuple[Path, str], tuple[int, ...]] = {}
"""Files that had that load, as they were then: an economy, nothing depends on it."""


def last_load(connection: Connection) -> str:
    """The newest load by number and moment: no other warehouse has it."""
    rows = connection.execute(
        f"select {_LOAD} from meta.loads order by load_id desc limit 1"
    ).fetchall()
    return rows[0][0] if rows else ""


def is_another(warehouse: Path, recorded: str) -> bool:
    """Whether the warehouse lacks this load; False where that cannot be seen now."""
    vault = vault_of(warehouse)
    path = vault if vault.exists() else warehouse
    try:
        stat = path.stat()
    except OSError:
        return False
    state = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
    if _known.get((path, recorded)) == state:
        return False
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            found = connection.execute(
                f"select 1 from meta.loads where {_LOAD} = $1", [recorded]
            ).fetchall()
    except duckdb.Error:  # it is written to: the next tick asks again
        return False
    _known.clear()
    if found:
        _known[path, recorded] = state
    return not found
