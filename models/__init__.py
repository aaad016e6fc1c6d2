"""Models: the rows that adapters yield, one entity per file.

Here:   a fact's fields, types and grain, as the row and as the frame that is
        checked at the door of staging; and the few small types that adapters
        and pipelines share (`roots.py`, `errors.py`).
Not:    anything that computes. Deduplication, links, prices and totals are
        SQL.
Rule:   imports nothing else of this project.
Start:  `message.py` and `usage.py`, the two that most questions end at.
"""
