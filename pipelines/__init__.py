"""Pipelines: when things happen, and the warehouse that they happen to.

Here:   `load/` takes streams into raw and staging, `warehouse/` owns the
        DuckDB files and runs the SQL models, `orchestration/` says it in
        Dagster, `cli/` says it on a terminal, `settings.py` is what the user
        asked for.
Not:    formats of agents (`adapters/`) or the meaning of their data (`sql/`).
Rule:   cli, orchestration -> load -> warehouse, and never back. The command
        line never imports Dagster: that costs seconds.
Start:  `load/`, the main job; `definitions.py` for Dagster.
"""
