"""agentlake: every coding agent's history, kept in one local DuckDB warehouse.

This folder holds the name, the version and the way in (`python -m agentlake`);
the code stands beside it and is imported under this name:

    agentlake.adapters    what the disk said: one module per agent
    agentlake.models      the rows that adapters yield
    agentlake.pipelines   load, warehouse, Dagster and the command line
    agentlake.sql         what it means: core and marts

Start at `adapters/__init__.py` to add an agent, at `pipelines/__init__.py`
to follow a load.
"""

__version__ = "0.1.0"
