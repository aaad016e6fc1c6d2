"""A context that was replaced by its summary."""

from typing import Annotated, ClassVar

from agentlake.models.fact import Count, Fact, Moment, one_of


class Compaction(Fact, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One occurrence of one compaction of a session's context."""

    TABLE: ClassVar[str] = "compactions"

    session_id: str
    agent_id: str | None = None
    compaction_id: str
    trigger: Annotated[str, one_of("auto", "manual", "micro")] | None = None
    is_summary: bool | None = None
    """Whether it shows only in its summary: a record of the compaction itself, if the
    version writes one, stands beside it and counts instead."""
    compacted_at: Moment | None = None
    tokens_before: Count | None = None
    tokens_after: Count | None = None
    ordinal: int | None = None
