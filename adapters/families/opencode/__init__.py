"""OpenCode's format: sessions in a SQLite database, before that in a tree of JSON.

Here:   three generations of one model, each session to be taken from the newest that
        has it. `tree` (up to 1.1): a file per session, message and part. `V1` (1.2 -
        1.19): tables session, message and part, whose `data` is what the files held.
        `V2` (2.0): session_v2 and session_message, a message with all its parts.
        Each says of its usage which session it is evidence of, and with which
        precedence (`rules.PRECEDENCE`); what counts is decided in `core`.
Start:  `store.py`, which finds the files and tells records apart; then
        `messages.py` for the first two generations and `rows.py` for the third.
"""
