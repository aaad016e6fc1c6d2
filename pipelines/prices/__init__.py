"""Prices: what a call costs, as rows that SQL can join.

Here:   from a name to a line of a price list (`names.py`, `names.toml`); the lists of
        the price package (`lists.py`), and what wins over them (`overlay.py`,
        `overlay.toml`); both as quotes, with the user's own prices (`quotes.py`);
        keeping them up to date with what was used (`update.py`); what other prices
        would change (`what_if.py`) and what these changed (`in_force.py`).
Not:    the formula itself: it is a macro (`sql/macros.sql`), chosen per call in
        `sql/core`. Vendors' bills: `bills/`.
Start:  `quotes.py`.
"""
