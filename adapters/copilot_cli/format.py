"""What Copilot CLI writes beside its event logs, as typed structs."""

from typing import Any

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count


class SessionRow(msgspec.Struct, frozen=True, gc=False):
    """A session in the database."""

    id: str | None = None
    cwd: str | None = None
    repository: str | None = None
    branch: str | None = None
    summary: str | None = None
    created_at: int | float | str | None = None


class UsageRow(msgspec.Struct, frozen=True, gc=False):
    """A call in the database."""

    id: int | str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    model: str | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    total_nano_aiu: Count | None = None
    finish_reason: str | None = None
    created_at: int | float | str | None = None
    timestamp: int | float | str | None = None


class OldFunction(msgspec.Struct, frozen=True, gc=False):
    """What an old call asks for; the arguments are JSON within a text."""

    name: str | None = None
    arguments: str | None = None


class OldCall(msgspec.Struct, frozen=True, gc=False):
    """A call in a message of the first versions."""

    id: str | None = None
    function: OldFunction | None = None


class OldMessage(msgspec.Struct, frozen=True, gc=False):
    """A message of the first versions."""

    role: str | None = None
    content: Any = None
    tool_calls: list[OldCall] | None = None
    tool_call_id: str | None = None


class SpanContext(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Where a log belongs."""

    trace_id: str | None = None
    span_id: str | None = None


class Exported(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One line of the OpenTelemetry export: a span or a log."""

    type: str | None = None
    name: str | None = None
    trace_id: str | None = None
    span_id: str | None = None
    span_context: SpanContext | None = None
    body: Any = None
    other_body: Any = msgspec.field(default=None, name="_body")
    end_time: Any = None
    start_time: Any = None
    timestamp: Any = None
    time: Any = None
    hr_time: Any = None
    attributes: dict[str, Any] | None = None


SESSION_ROW = Decoder(SessionRow)
USAGE_ROW = Decoder(UsageRow)
OLD_MESSAGE = Decoder(OldMessage)
EXPORTED = Decoder(Exported)
