"""What Zed writes, as typed structs: the fields that become facts."""

from datetime import datetime
from typing import Any

import msgspec

from agentlake.adapters.sdk.blobs import Blob
from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count


class Row(msgspec.Struct, frozen=True, gc=False):
    """A row of `threads`."""

    id: str | None = None
    summary: str | None = None
    updated_at: datetime | None = None
    created_at: datetime | None = None
    data_type: str | None = None
    data: str | Blob | None = None
    parent_id: str | None = None
    folder_paths: str | None = None


class Tokens(msgspec.Struct, frozen=True, gc=False):
    """Disjoint counts, as Anthropic has them; one that is not written is 0."""

    input_tokens: Count = 0
    output_tokens: Count = 0
    cache_creation_input_tokens: Count = 0
    cache_read_input_tokens: Count = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_creation_input_tokens + other.cache_creation_input_tokens,
            self.cache_read_input_tokens + other.cache_read_input_tokens,
        )

    @property
    def total(self) -> int:
        """All of them, in one number."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_creation_input_tokens
            + self.cache_read_input_tokens
        )


class Model(msgspec.Struct, frozen=True, gc=False):
    """The model that a thread was last set to."""

    provider: str | None = None
    model: str | None = None


class ToolUse(msgspec.Struct, frozen=True, gc=False):
    """A call of a tool, in either generation."""

    id: str | None = None
    name: str | None = None
    input: Any = None


class ToolResult(msgspec.Struct, frozen=True, gc=False):
    """What a tool answered, in either generation."""

    tool_use_id: str | None = None
    is_error: bool | None = None
    content: Any = None
    output: Any = None


class Thinking(msgspec.Struct, frozen=True, gc=False):
    """What the model thought."""

    text: str | None = None


class Mention(msgspec.Struct, frozen=True, gc=False):
    """A file or a place that the user pointed to, with what it held."""

    content: str | None = None


class Part(msgspec.Struct, frozen=True, gc=False, rename="pascal"):
    """One piece of a content: an object with the one name of its kind."""

    text: str | None = None
    thinking: Thinking | None = None
    redacted_thinking: Any = None
    tool_use: ToolUse | None = None
    image: Any = None
    mention: Mention | None = None


class User(msgspec.Struct, frozen=True, gc=False):
    """What the user said."""

    id: str | None = None
    content: list[Part] = []


class Agent(msgspec.Struct, frozen=True, gc=False):
    """What the agent answered, with the results of the tools that it called."""

    content: list[Part] = []
    tool_results: dict[str, ToolResult] = {}


class Segment(msgspec.Struct, frozen=True, gc=False):
    """One piece of an old message."""

    type: str | None = None
    text: str | None = None


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A message: `User` or `Agent`, or in old documents one with a role."""

    user: User | None = msgspec.field(default=None, name="User")
    agent: Agent | None = msgspec.field(default=None, name="Agent")

    id: str | int | None = None
    role: str | None = None
    segments: list[Segment] = []
    tool_uses: list[ToolUse] = []
    tool_results: list[ToolResult] = []


class Subagent(msgspec.Struct, frozen=True, gc=False):
    """The thread by which this one was begun."""

    parent_thread_id: str | None = None


class Thread(msgspec.Struct, frozen=True, gc=False):
    """A thread of any version. A message that is a lone word only marks a place."""

    title: str | None = None
    model: Model | None = None
    messages: list[str | Entry] = []
    cumulative_token_usage: Tokens | None = None
    request_token_usage: dict[str, Tokens] | list[Tokens | None] | None = None
    subagent_context: Subagent | None = None
    imported: bool = False


ROW, THREAD = Decoder(Row), Decoder(Thread)
