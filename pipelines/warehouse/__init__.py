"""Warehouse: the DuckDB files, their tables, and the models run over them.

Here:   opening with locks and readable errors, the schema of raw, staging and
        meta, publishing the copy that people read, and the runner that
        refreshes SQL models by touched keys.
Not:    reading agents' files, and the SQL of the models itself (`sql/`).
Rule:   the loader's own file is opened for a short while, by one process;
        everybody else reads the published copy.
Start:  how a warehouse is opened, then how models are run.
"""
