"""Adapters: one package per agent, saying what that agent's disk said.

Here:   where an agent's streams lie, how they are read, and the pure `parse`
        that turns one record into facts and rejects.
Not:    watching, prices, deduplication, links between records, clocks,
        environment variables, logging. Meaning belongs in `sql/`; where to
        look is resolved by `pipelines/settings` and passed in.
Rule:   an adapter imports `agentlake.adapters.sdk` and `agentlake.models`,
        never another adapter; what several agents write in common is in
        `agentlake.adapters.families`.
Start:  read `codex/__init__.py`, then `sdk/contract.py`; `registry.py` lists
        the built-in sources, one line each.
"""
