"""Bills: what vendors say was used and paid, set against what is on this machine.

Here:   reading the reports that a vendor's console or API gives as a file
        (`vendors.py`), and comparing them by day, model and kind (`compare.py`).
Not:    fetching such reports: nothing leaves this machine.
Start:  `bill.py`.
"""
