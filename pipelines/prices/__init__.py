"""Prices: what a call costs, as rows that SQL can join.

Here:   the quotes of the price package and of the user's own table (`quotes.py`),
        and keeping `meta.price_quotes` up to date with what was used (`update.py`).
Not:    the formula itself: it is a macro (`sql/macros.sql`), chosen per call in
        `sql/core`.
Start:  `quotes.py`.
"""
