"""What a load did, for people and for Dagster."""

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec


class SourceReport(msgspec.Struct, kw_only=True):
    """What one load did for one source."""

    source: str
    found: bool
    """Whether any of the places where it is looked for exists."""
    searched: Sequence[str] = ()
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


class Part(msgspec.Struct, frozen=True):
    """What one transaction of a load wrote: a row of `meta.loads`."""

    load_id: int
    started_at: datetime
    counts: Sequence[int]
    """In the order of `COUNTS`."""


class LoadReport(msgspec.Struct, kw_only=True):
    """What one load did; `load_id` marks the rows that it writes.

    Each of its transactions has an id of its own. Rows under an id that a refresh of
    the models has seen would never be asked for again; and ids that belong to few rows
    tell where in the tables the rows of a session lie (`meta.session_loads`).
    """

    load_id: int
    """The id of the last transaction; of the first, before there is one."""
    parts: int = 0
    """How many transactions there were."""
    earlier: dict[str, int] = {}
    """What was counted in them."""
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

    def next_id(self) -> int:
        """The id of the next transaction."""
        self.load_id += self.parts > 0
        self.parts += 1
        return self.load_id

    def part(self) -> Part:
        """What was counted since the last part, under the present id."""
        now = {name: self.total(name) for name in COUNTS}
        counts = [now[name] - self.earlier.get(name, 0) for name in COUNTS]
        self.earlier = now
        return Part(self.load_id, self.started_at, counts)

    def total(self, name: str) -> int:
        """The sum of one number over the sources."""
        return sum(getattr(one, name) for one in self.sources.values())
