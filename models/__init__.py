"""Models: the rows that adapters yield, one entity per file.

Here:   a fact's fields, types and grain, as the row and as the frame that is
        validated in staging; and what every column means (`dictionary/`).
Not:    anything that computes. Deduplication, links, prices and totals are
        SQL.
Rule:   imports nothing else of this project.
Start:  `message.py` and `usage.py`, the two that most questions end at.
"""
