"""What Crush writes, as typed structs: the fields that become facts."""

from typing import Any

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Usd


class SessionRow(msgspec.Struct, frozen=True, gc=False):
    """A row of `sessions`, and what the sessions below it have cost.

    Its own cost holds the latter as well; its tokens are only the last step's.
    """

    id: str | None = None
    parent_session_id: str | None = None
    title: str | None = None
    cost: Usd | None = None
    cost_of_children: Usd = 0.0
    created_at: float | None = None
    updated_at: float | None = None


class MessageRow(msgspec.Struct, frozen=True, gc=False):
    """A row of `messages`; `parts` is JSON."""

    id: str | None = None
    session_id: str | None = None
    role: str | None = None
    parts: str | None = None
    model: str | None = None
    provider: str | None = None
    created_at: float | None = None
    finished_at: float | None = None
    is_summary_message: int = 0


class Data(msgspec.Struct, frozen=True, gc=False):
    """What a part holds, whichever kind it is of."""

    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_call_id: str | None = None
    content: Any = None
    is_error: bool | None = None
    command: str | None = None
    output: str | None = None


class Part(msgspec.Struct, frozen=True, gc=False):
    """One part of a message."""

    type: str | None = None
    data: Data = Data()


SESSION, MESSAGE, PARTS = (
    Decoder(SessionRow),
    Decoder(MessageRow),
    Decoder(list[Part]),
)

BLOCK_TYPES = {
    "reasoning": "thinking",
    "text": "text",
    "tool_call": "tool_use",
    "tool_result": "tool_result",
    "image_url": "image",
    "binary": "other",
    "shell_command": "other",
}
"""Which block a part is; one that is not here (finish) only marks a state."""
