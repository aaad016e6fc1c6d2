"""Transform: the SQL models, and what runs them over the warehouse.

Here:   the SQL files as models (`sql_models.py`), the refresh of what changed
        (`refresh.py`, with `groups.py` and `narrow.py`), and the proof that it equals
        a full one (`verify.py`).
Not:    the SQL itself (`sql/`), the warehouse's files and tables (`warehouse/`).
Start:  `refresh.py`, how models run.
"""
