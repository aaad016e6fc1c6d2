"""Facts that are ready when they are read: for sources that keep no records.

A database, an export or an API may give totals and messages that are facts already.
`pack` makes a record of them, which raw keeps like any other; `unpack` is its `parse`.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from agentlake.adapters.sdk.contract import Record, Reject
from agentlake.models.fact import Fact
from agentlake.models.table import FACTS

_KINDS = {kind.__name__: kind for kind in FACTS}


def pack(facts: Iterable[Fact]) -> bytes:
    """These facts as one record: a list of objects, each with its kind."""
    return msgspec.json.encode(
        [
            {"kind_of_fact": type(fact).__name__} | msgspec.to_builtins(fact)
            for fact in facts
        ]
    )


def unpack(record: Record) -> Iterator[Fact | Reject]:
    """The facts of a packed record; one that does not fit its kind is a Reject."""
    items: list[dict[str, Any]] = msgspec.json.decode(
        record.data, type=list[dict[str, Any]]
    )
    for item in items:
        name = item.pop("kind_of_fact", None)
        kind = _KINDS.get(str(name))
        if kind is None:
            yield Reject(f"no kind of fact is called {name}")
            continue
        try:
            yield msgspec.convert(item, kind)
        except msgspec.ValidationError as error:
            yield Reject(f"{name}: {error}")
