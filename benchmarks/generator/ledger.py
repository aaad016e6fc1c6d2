"""The truth about a synthetic home: totals noted while it is invented."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from generator.text import utc_day


@dataclass(slots=True)
class Tokens:
    """One model call as it is billed; the prompt is the sum of three disjoint parts.

    `cache_write_1h` is a part of `cache_write`, `reasoning` a part of `output`.
    """

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    output: int = 0
    reasoning: int = 0
    web_searches: int = 0

    def add(self, other: Tokens) -> None:
        """Count another call in."""
        self.input += other.input
        self.cache_read += other.cache_read
        self.cache_write += other.cache_write
        self.cache_write_1h += other.cache_write_1h
        self.output += other.output
        self.reasoning += other.reasoning
        self.web_searches += other.web_searches


@dataclass(slots=True)
class Slice:
    """What a model or a UTC day adds up to."""

    calls: int = 0
    output_tokens: int = 0


@dataclass(slots=True)
class SourceTotals:
    """Expected totals of one source; every call counts once, however often written.

    A call's day is the UTC day of the earliest record of it on disk.
    `sessions_with_conversation`: main transcripts (Claude Code) or threads of any
    kind (Codex) in which a model answered, copies of older history included.
    `tool_calls` counts distinct ids of calls the client ran; `server_tool_calls`
    those that ran at the vendor. `counts` describes the disk, for reports and for
    proof that each trap is there.
    """

    calls: int = 0
    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    web_search_requests: int = 0
    sessions_with_conversation: int = 0
    tool_calls: int = 0
    server_tool_calls: int = 0
    by_model: dict[str, Slice] = field(default_factory=lambda: defaultdict(Slice))
    by_day: dict[str, Slice] = field(default_factory=lambda: defaultdict(Slice))
    counts: Counter[str] = field(default_factory=Counter)

    def call(self, model: str, written_at: Iterable[int], tokens: Tokens) -> None:
        """Note one invented call; `written_at` are the times of its records (ms)."""
        self.calls += 1
        self.input_tokens += tokens.input
        self.cache_read_tokens += tokens.cache_read
        self.cache_write_tokens += tokens.cache_write
        self.cache_write_1h_tokens += tokens.cache_write_1h
        self.output_tokens += tokens.output
        self.reasoning_tokens += tokens.reasoning
        self.web_search_requests += tokens.web_searches
        for part in (self.by_model[model], self.by_day[utc_day(min(written_at))]):
            part.calls += 1
            part.output_tokens += tokens.output


@dataclass(slots=True)
class Expected:
    """What OUT/expected.json holds: how the home was made, and what is in it."""

    seed: int
    megabytes: int
    sources: dict[str, SourceTotals]
