"""Formats drift: an agent begins to write a type of record that nobody has seen.

An adapter that meets one says so, and goes on: `unknown("row", row.type, IGNORED)`.
Without that, a new type that carries usage would be passed over in silence.
"""

from collections.abc import Container

from agentlake.adapters.sdk.contract import Unknown

_LONGEST = 80
"""Names of types are short; what is longer is no name."""


def unknown(
    what: str, name: str | None, ignored: Container[str] = ()
) -> tuple[Unknown, ...]:
    """That a type of `what` (a row, an item, an event) is not known; else nothing.

    `ignored` are the types that have been seen and say nothing of interest.
    """
    if not name or name in ignored:
        return ()
    return (Unknown(f"{what} {name[:_LONGEST]}"),)
