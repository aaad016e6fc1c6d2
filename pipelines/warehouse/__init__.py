"""Warehouse: the DuckDB files, their tables, and the models run over them.

Here:   opening with locks and readable errors, the schema of raw, staging and
        meta, and the runner that refreshes SQL models by touched keys.
Not:    reading agents' files, and the SQL of the models itself (`sql/`).
Rule:   the vault is opened by writers alone, for as long as one job takes: DuckDB
        lets one process write, or many read. Readers have the published copy.
Start:  `connect.py`, how a warehouse is opened; `publish.py`, how readers get what
        was written; then `refresh.py`, how models run.
"""
