"""What a model asked a tool to do."""

from typing import ClassVar

from agentlake.models.fact import Fact, Moment


class ToolCall(Fact, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One occurrence of one call of one tool."""

    TABLE: ClassVar[str] = "tool_calls"

    session_id: str
    agent_id: str | None = None
    message_id: str
    tool_call_id: str
    name: str | None = None
    input: str | None = None
    """The arguments as JSON text; free text is a JSON string."""
    agent_type: str | None = None
    """The kind of subagent that it asks for, where the subagent does not say it."""
    called_at: Moment | None = None
