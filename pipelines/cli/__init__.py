"""The command line: thin, it prints what other modules return.

Here:   `parser.py` says which commands there are, one module of the command's name
        runs each; `table.py`, `query.py` and `days.py` are shared by them.
Not:    anything that Dagster would need as well (`sync.py`, `health.py`).
Rule:   a command imports what it needs when it runs. `agentlake report` must not
        wait for Arrow, and nothing here ever imports Dagster.
Start:  `app.py`, which is `main`.
"""

from agentlake.pipelines.cli.app import main

__all__ = ["main"]
