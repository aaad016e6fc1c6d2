"""What Hermes writes, as typed structs: the fields that become facts."""

from typing import Any

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count, Usd


class Counters(msgspec.Struct, frozen=True, gc=False):
    """Totals so far: input has no cache in it, output has the reasoning in it."""

    model: str | None = None
    billing_provider: str | None = None
    billing_base_url: str | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    estimated_cost_usd: Usd | None = None
    actual_cost_usd: Usd | None = None
    cost_status: str | None = None
    cost_source: str | None = None


class SessionRow(Counters, frozen=True, gc=False):
    """A row of `sessions`."""

    id: str | None = None
    source: str | None = None
    model_config: str | None = None
    parent_session_id: str | None = None
    started_at: float | None = None
    ended_at: float | None = None
    last_activity_at: float | None = None
    end_reason: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    title: str | None = None
    title_source: str | None = None


class Origin(msgspec.Struct, frozen=True, gc=False):
    """Of model_config: which session this one was made from, and how."""

    branched: Any = msgspec.field(default=None, name="_branched_from")
    delegated: Any = msgspec.field(default=None, name="_delegate_from")
    reset: Any = msgspec.field(default=None, name="_reset_from")


class SpentRow(Counters, frozen=True, gc=False):
    """A row of `session_model_usage`."""

    session_id: str | None = None
    billing_mode: str | None = None
    task: str | None = None
    last_seen: float | None = None


class MessageRow(msgspec.Struct, frozen=True, gc=False):
    """A row of `messages`."""

    id: int | None = None
    session_id: str | None = None
    role: str | None = None
    content: str | None = None
    tool_call_id: str | None = None
    tool_calls: str | None = None
    tool_name: str | None = None
    timestamp: float | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None


class Function(msgspec.Struct, frozen=True, gc=False):
    """Which tool is called, and its arguments as JSON text."""

    name: str | None = None
    arguments: Any = None


class Call(msgspec.Struct, frozen=True, gc=False):
    """One call of a tool."""

    id: str | None = None
    function: Function = Function()


class Line(msgspec.Struct, frozen=True, gc=False):
    """A line of a transcript, or a part of a document: a message, or what it is of."""

    role: str | None = None
    content: Any = None
    tool_calls: list[Call] | None = None
    tool_call_id: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    timestamp: str | float | None = None

    # what it is of
    platform: str | None = None
    session_start: str | float | None = None


class Part(msgspec.Struct, frozen=True, gc=False):
    """One part of a content that is no mere text."""

    type: str | None = None
    text: str | None = None


SESSION, MESSAGE, SPENT = Decoder(SessionRow), Decoder(MessageRow), Decoder(SpentRow)
ORIGIN, CALLS, LINE = Decoder(Origin), Decoder(list[Call]), Decoder(Line)
PARTS = msgspec.json.Decoder(list[Part])
