"""Warehouse: the DuckDB files, their tables, and the models run over them.

Here:   opening with locks and readable errors, the schema of raw, staging and
        meta, and the runner that refreshes SQL models by touched keys.
Not:    reading agents' files, and the SQL of the models itself (`sql/`).
Rule:   the file is opened for as long as one job takes: DuckDB lets one process
        write, or many read.
Start:  `connect.py`, how a warehouse is opened; then `refresh.py`, how models run.
"""
