"""Settings: what the user asked for, checked, with every path absolute.

Here:   the one way to open them (`open.py`), the settings file with its variables and
        flags (`settings.py`), where each source is searched for (`places.py`,
        `listed.py`), the time zone.
Not:    what an adapter does with its options, and anything that opens a warehouse.
Rule:   nothing here reads `os.environ`; it is passed in. Nothing is slow to import:
        every command starts here.
Start:  `open.py`.
"""
