"""What Gemini CLI writes, as typed structs: the fields that become facts."""

from datetime import datetime
from typing import Any

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count


class Response(msgspec.Struct, frozen=True, gc=False):
    """What a tool answered."""

    id: str | None = None
    response: Any = None


class Part(msgspec.Struct, frozen=True, gc=False):
    """One part of a content, in the shape of the Gemini API."""

    text: str | None = None
    inline_data: Any = msgspec.field(default=None, name="inlineData")
    function_response: Response | None = msgspec.field(
        default=None, name="functionResponse"
    )


class Thought(msgspec.Struct, frozen=True, gc=False):
    """A summary of what the model thought."""

    subject: str | None = None
    description: str | None = None


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """A call and, once it has ended, its result."""

    id: str | None = None
    name: str | None = None
    args: Any = None
    result: str | list[Part] | None = None
    result_display: Any = msgspec.field(default=None, name="resultDisplay")
    status: str | None = None
    timestamp: datetime | None = None
    agent_id: str | None = msgspec.field(default=None, name="agentId")


class Tokens(msgspec.Struct, frozen=True, gc=False):
    """Counts of one request: prompt with `cached`, answer without `thoughts`."""

    input: Count | None = None
    output: Count | None = None
    cached: Count | None = None
    thoughts: Count | None = None
    tool: Count | None = None
    total: Count | None = None


class Message(msgspec.Struct, frozen=True, gc=False):
    """A message without its tokens, which are a record of their own."""

    type: str | None = None
    timestamp: datetime | None = None
    content: str | list[Part] | Part | None = None
    shown: str | list[Part] | Part | None = msgspec.field(
        default=None, name="displayContent"
    )
    model: str | None = None
    thoughts: list[Thought] | None = None
    tool_calls: list[ToolCall] | None = msgspec.field(default=None, name="toolCalls")


class Billed(msgspec.Struct, frozen=True, gc=False):
    """The tokens of a message, and what else its bill needs."""

    timestamp: datetime | None = None
    model: str | None = None
    tokens: Tokens | None = None


class Session(msgspec.Struct, frozen=True, gc=False):
    """What is known of a session."""

    kind: str | None = None
    start_time: datetime | None = msgspec.field(default=None, name="startTime")
    summary: str | None = None
    directories: list[str] | None = None
    folder: str | None = msgspec.field(default=None, name="$folder")
    """Of its project, as other files tell it."""


class Patch(msgspec.Struct, frozen=True, gc=False):
    """A change of what was written before; the changes themselves are in messages."""

    remove_ids: list[str] | None = msgspec.field(default=None, name="removeIds")


class Patched(msgspec.Struct, frozen=True, gc=False):
    """The line of a patch."""

    patch: Patch | None = msgspec.field(default=None, name="$patch")


MESSAGE, BILLED, SESSION, PATCHED = (
    Decoder(Message),
    Decoder(Billed),
    Decoder(Session),
    Decoder(Patched),
)
