"""The adapter SDK: all that an adapter may lean on, in this project or yours.

Here:   the contract (`contract.py`), the readers, the guarded run that turns
        every failure into a reject, small total functions for values, and the
        conformance tests that every adapter inherits.
Not:    anything about one agent, and anything that writes: no warehouse, no
        Dagster, no settings.
Start:  `contract.py`, which names everything that an adapter has to say.
"""
