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
    is_summary: bool | None = None
    """Whether it shows only in its summary: a record of the compaction itself, if the
    version writes one, stands beside it and counts instead."""
    compacted_at: Moment | None = None
    tokens_before: Count | None = None
    tokens_after: Count | None = None
    ordinal: int | None = None
