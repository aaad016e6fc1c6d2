"""Run an adapter's `parse` on a record; whatever happens, facts or rejects come out.

The only broad `except` of the project: an adapter, built in or not, must never
cost more than the record that it stumbled over.
"""

from collections.abc import Iterable
from typing import Protocol

from agentlake.adapters.sdk.contract import Record, Reject
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.models.fact import Fact


class Parses(Protocol):
    """The part of an adapter that makes facts."""

    @staticmethod
    def parse(record: Record) -> Iterable[Fact | Reject]:
        """The facts of one record."""
        ...


def facts_of(adapter: Parses, record: Record) -> tuple[list[Fact], list[Reject]]:
    """The facts and rejects of one record, in the order in which they were given.

    An exception becomes a Reject; what was given before it is kept.
    """
    facts: list[Fact] = []
    rejects: list[Reject] = []
    try:
        for found in adapter.parse(record):
            if isinstance(found, Fact):
                facts.append(found)
            else:
                rejects.append(found)
    except Unreadable as error:
        rejects.append(Reject(str(error)))
    except Exception as error:  # noqa: BLE001 - the module says why
        rejects.append(Reject(f"{type(error).__name__} in parse: {error}"))
    return facts, rejects
