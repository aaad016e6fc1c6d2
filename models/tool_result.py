"""What a tool answered."""

from typing import ClassVar

from agentlake.models.fact import Count, Fact, Moment


class ToolResult(Fact, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One occurrence of the answer to one call, or of a part of it."""

    TABLE: ClassVar[str] = "tool_results"

    session_id: str
    agent_id: str | None = None
    message_id: str | None = None
    tool_call_id: str
    text: str | None = None
    ref: str | None = None
    """File that holds an output too long for the transcript."""
    is_error: bool | None = None
    finished_at: Moment | None = None
    duration_ms: Count | None = None
    search_count: Count | None = None
    """Web searches that a search tool made in hidden side calls."""
    spawned_agent_id: str | None = None


class Spill(Fact, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The content of one file to which an agent moved a long tool output."""

    TABLE: ClassVar[str] = "spills"

    session_id: str
    ref: str
    """The file's name, as the placeholder in the transcript ends with it."""
    text: str | None = None
