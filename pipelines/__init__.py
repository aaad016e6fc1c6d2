"""Pipelines: when things happen, and the warehouse that they happen to.

Here:   `settings/` what the user asked for, `warehouse/` the DuckDB files,
        `transform/` the SQL models and what runs them, `prices/` what a call costs,
        `ingest/` streams into raw and staging; `sync.py` is all of it in order and
        `health.py` what is wrong or about to be lost; `watching.py` does both again
        and again. `cli/` says it on a terminal, `orchestration/` in Dagster.
Not:    formats of agents (`adapters/`) or the meaning of their data (`sql/`).
Rule:   imports go down this list and never up (pyproject.toml, `make layers`):
        cli, orchestration -> watching, health -> sync -> ingest, prices ->
        transform -> warehouse -> settings. The command line never imports Dagster:
        that costs seconds.
Start:  `sync.py`, the main job; `definitions.py` for Dagster.
"""
