"""The session format of Pi, which Oh-My-Pi and OpenClaw write as well.

A stream is one session: a header, then entries that form a tree by `parentId`. An
entry is one JSON object: a message, a compaction, a change of settings, usage outside
of the conversation. Version 1 had neither ids nor a tree.

Start:  `entries.FACTS`, which names what makes facts of each type of entry; an
        agent that writes other types, or writes one differently, puts its own
        functions over it. `format.py` has the fields.
"""
