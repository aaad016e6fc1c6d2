"""Orchestration: the same work as the command line, said in Dagster.

Here:   assets, asset checks, the sensor and the resources: thin wrappers that call
        `sync`, `ingest` and `transform` and show what those return (`shown.py`).
Not:    logic. What a function does must be reachable, and tested, without
        Dagster.
Rule:   nothing outside this folder and `definitions.py` imports Dagster.
Start:  `pipelines/definitions.py`, which assembles everything here.
"""
