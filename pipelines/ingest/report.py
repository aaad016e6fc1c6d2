"""What a load did, for people and for Dagster."""

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec


class SourceReport(msgspec.Struct, kw_only=True):
    """What one load did for one source."""

    source: str
    found: bool
    """Whether any of the places where it is looked for exists."""
    looked_in: Sequence[str] = ()
    streams: int = 0
    read: int = 0
    """Streams that were opened."""
    records: int = 0
    facts: int = 0
    bytes: int = 0
    rejects: int = 0
    deferred: list[tuple[str, str]] = []
    """Path and reason of each stream that could not be read; it is retried."""
    led_out: list[tuple[str, str]] = []
    """Links that lead out of its folders and are not followed, and where they lead."""
    waiting: list[str] = []
    """Paths of the streams that end in half a line, not taken yet."""
    problem: str | None = None
    """Why nothing of it could be read at all."""
    replayed: int = 0
    """Records of raw that were parsed again."""
    seconds: float = 0.0


COUNTS = ("read", "records", "bytes", "rejects")
"""What `meta.loads` says of a load."""


class LoadReport(msgspec.Struct, kw_only=True):
    """What one load did; `load_id` marks the rows that it writes.

    A long load during which the models were refreshed goes on under the next id:
    rows under an id that a refresh has seen would never be asked for again.
    """

    load_id: int
    earlier: dict[str, int] = {}
    """What was counted under this load's earlier ids."""
    started_at: datetime = msgspec.field(default_factory=lambda: datetime.now(UTC))
    sources: dict[str, SourceReport]

    @property
    def wrote(self) -> bool:
        """Whether any row came in."""
        return any(one.records or one.replayed for one in self.sources.values())

    @property
    def complete(self) -> bool:
        """Whether every stream could be read."""
        return not any(one.deferred or one.problem for one in self.sources.values())

    def go_on(self) -> None:
        """Take the next id; the models have seen the rows of this one."""
        self.earlier = {name: self.total(name) for name in COUNTS}
        self.load_id += 1

    def total(self, name: str) -> int:
        """The sum of one number over the sources."""
        return sum(getattr(one, name) for one in self.sources.values())
