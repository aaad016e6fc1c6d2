"""Transform: the SQL models, and what runs them over the warehouse.

Here:   the SQL files as models (`sql_models.py`), the refresh of what changed
        (`refresh.py`, with `groups.py` and `narrow.py`), the proof that it equals a
        full one (`verify.py`), the checks (`checks/`), and the columns of every table
        (`columns.py`) with the comments that explain them to each client.
Not:    the SQL itself (`sql/`), the warehouse's files and tables (`warehouse/`).
Start:  `refresh.py`, how models run.
"""
