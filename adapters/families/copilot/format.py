"""What Copilot writes of a session, as typed structs: the fields that become facts.

One `Data` serves all types of events, since no field means two things.
"""

from datetime import datetime
from typing import Any

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count


class Context(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Where a run works."""

    cwd: str | None = None
    repository: str | None = None
    branch: str | None = None
    head_commit: str | None = None


class ToolRequest(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a reply asks of a tool."""

    tool_call_id: str | None = None
    name: str | None = None
    arguments: Any = None
    mcp_server_name: str | None = None


class Requests(msgspec.Struct, frozen=True, gc=False):
    """How many requests a model answered; `cost` is in premium requests."""

    count: Count | None = None


class Tokens(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Counts as Copilot writes them: input includes what the cache read and wrote."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    reasoning_tokens: Count | None = None


class Metrics(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What one model did, as the end of a run tells it."""

    requests: Requests | None = None
    usage: Tokens | None = None
    total_nano_aiu: Count | None = None


class Compacted(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a compaction used, under the names of older and newer versions."""

    input: Count | None = None
    output: Count | None = None
    cached_input: Count | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    model: str | None = None

    @property
    def tokens(self) -> Tokens:
        """The counts, whatever their names."""
        return Tokens(
            self.input if self.input_tokens is None else self.input_tokens,
            self.output if self.output_tokens is None else self.output_tokens,
            self.cached_input
            if self.cache_read_tokens is None
            else self.cache_read_tokens,
            self.cache_write_tokens,
        )


class Data(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What an event says."""

    # runs
    copilot_version: str | None = None
    version: int | str | None = None
    selected_model: str | None = None
    start_time: datetime | None = None
    context: Context | None = None
    new_model: str | None = None
    model_metrics: dict[str, Metrics | None] | None = None
    # where a session is, what it is called
    cwd: str | None = None
    branch: str | None = None
    title: str | None = None
    # messages
    message_id: str | None = None
    api_call_id: str | None = None
    model: str | None = None
    content: Any = None
    source: str | None = None
    message: str | None = None
    reasoning_text: str | None = None
    output_tokens: Count | None = None
    tool_requests: list[ToolRequest] | None = None
    # tools
    tool_call_id: str | None = None
    tool_name: str | None = None
    arguments: Any = None
    success: bool | None = None
    result: Any = None
    error: Any = None
    agent_name: str | None = None
    # compactions
    trigger: str | None = None
    pre_compaction_tokens: Count | None = None
    post_compaction_tokens: Count | None = None
    compaction_tokens_used: Compacted | None = None


class Event(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One line of an event log; `agent_id` is there for what a subagent does."""

    type: str | None = None
    id: str | None = None
    timestamp: datetime | None = None
    agent_id: str | None = None
    data: Data | None = None


EVENT = Decoder(Event)
