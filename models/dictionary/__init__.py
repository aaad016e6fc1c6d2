"""The dictionary of columns: what each means, in which unit and zone, of which values.

Here:   one entry per column name (`columns.py`), and the entries of tables that no
        other place describes (`tables.py`: raw and meta); the rules that drop a record
        of usage (`rules.py`).
Not:    what only one table means by a name. A field of a fact says so in its
        docstring, a column of a model in the `columns` field of its SQL header; both
        overrule the entry here.
Serves: docs/tables.md, the comments in the warehouse's file, the checks and Dagster.
Start:  `entry.py`, what an entry says.
"""
