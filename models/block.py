"""A piece of a message's content."""

from typing import Annotated, ClassVar

from agentlake.models.fact import Fact, one_of


class Block(Fact, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One content block of one record.

    Tool input and tool output are not repeated here: a tool_use or tool_result
    block names its call, whose content is in `tool_calls` and `tool_results`.
    """

    TABLE: ClassVar[str] = "blocks"

    session_id: str
    agent_id: str | None = None
    message_id: str
    block_index: int
    """Position within the record, from 0."""
    type: Annotated[
        str,
        one_of(
            "text",
            "thinking",
            "tool_use",
            "tool_result",
            "image",
            "document",
            "attachment",
            "other",
        ),
    ]
    text: str | None = None
    tool_call_id: str | None = None
