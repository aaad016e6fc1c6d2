"""Families: formats that several agents write, each with changes of its own.

Here:   what such agents have in common on disk, as typed structs and as the facts
        that their records give; one package per format.
Not:    where an agent's files lie, how they are read, and what only one agent
        writes: that is its adapter.
Rule:   a family imports `agentlake.adapters.sdk` and `agentlake.models`; adapters
        import families, never each other.
Start:  `pi/__init__.py`.
"""
