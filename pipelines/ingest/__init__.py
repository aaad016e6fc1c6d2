"""Ingest: from streams on disk to rows in raw and staging, once and only once.

Here:   finding streams, signatures and checkpoints, what changed, the loader that
        reads on from where it stopped, and the replay of a newer `parse` over raw.
Not:    how a format is read (`adapters/sdk/readers`), how tables are made
        (`pipelines/warehouse`), what rows mean (`sql/`).
Promise: rows and checkpoint are written in one transaction, so a kill at any
        instant leaves exactly the rows up to the checkpoint.
Start:  `loader.py` tells the order of things.
"""
