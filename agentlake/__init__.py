"""agentlake: every coding agent's history, kept in one local DuckDB warehouse.

This folder holds the name, the version and the ways in: `python -m agentlake`, and

    import agentlake

    lake = agentlake.open()
    lake.daily_usage()                       # a Polars frame; `lake.py` lists all
    lake.sql("from spend_by_day()")

The code stands beside it and is imported under this name:

    agentlake.adapters    what the disk said: one module per agent
    agentlake.models      the rows that adapters yield
    agentlake.pipelines   ingest, warehouse, models, Dagster and the command line
    agentlake.sql         what it means: core and marts

Start at `adapters/__init__.py` to add an agent, at `pipelines/__init__.py`
to follow a load.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from agentlake.errors import UserError

if TYPE_CHECKING:
    from agentlake.lake import Lake

__version__ = "0.1.0"
__all__ = ["UserError", "open"]


def open(
    warehouse: str | Path | None = None, *, time_zone: str | None = None
) -> "Lake":
    """The warehouse of the settings, or another one, to be asked from Python.

    Days are counted in `time_zone`, by default that of the settings. Raises UserError
    when there is no warehouse, or no such time zone.
    """
    # Imported here: `import agentlake` must not wait for Polars and DuckDB.
    from agentlake.lake import open_lake

    return open_lake(warehouse, time_zone)
