"""Notebooks: the warehouse in pictures, for people.

Here:   marimo notebooks that read the published copy through `agentlake.open()`.
Not:    anything that another module imports, and anything that writes.
Start:  `agentlake notebook`, which serves `usage.py`.
"""
