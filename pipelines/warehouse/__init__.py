"""Warehouse: the DuckDB files and the tables in them.

Here:   opening with locks and readable errors, publishing and compacting, the schema
        of raw, staging and meta, and what protects a query of the user.
Not:    reading agents' files (`ingest/`), and the SQL models (`transform/`).
Rule:   the vault is opened by writers alone, for as long as one job takes: DuckDB
        lets one process write, or many read. Clients have the published copy.
Start:  `connect.py`, how a warehouse is opened; then `publish.py`, how clients get
        what was written.
"""
