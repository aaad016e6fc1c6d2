"""Readers: how a stream on disk becomes records, and where to read on.

Here:   one module per kind of stream (JSONL, JSON document, SQLite): its
        signature, its cursor, and the read that never touches the agent's
        files.
Not:    the meaning of a record (the adapter's `parse`), and the decision to
        read at all (`pipelines/ingest`).
Start:  `jsonl.py`, the reader that most sources use.
"""
