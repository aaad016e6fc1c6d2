"""Checks: what must hold of the rows, and the query that shows where it does not.

Here:   what the header of a model and the dictionary promise of its rows
        (`header.py`), what must hold between tables (`between.py`, the files of
        `sql/checks`), the frames of the facts (`frames.py`), and all of it at once
        (`everything.py`, which `agentlake verify` prints).
Not:    when they run and how they are shown (`cli/`, `orchestration/`).
Rule:   a check never stops what comes after it: bad rows are shown, and stay.
Start:  `check.py`, what a check is.
"""
