"""A context that was replaced by its summary."""

from typing import ClassVar

from agentlake.models.fact import Count, Fact, Moment


class Compaction(Fact, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One occurrence of one compaction of a session's context."""

    TABLE: ClassVar[str] = "compactions"

    session_id: str
    agent_id: str | None = None
    compaction_id: str
    trigger: str | None = None
    """auto, manual or micro; None when the record does not say."""
    compacted_at: Moment | None = None
    tokens_before: Count | None = None
    tokens_after: Count | None = None
    ordinal: int | None = None
