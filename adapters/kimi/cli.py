"""Events of Kimi CLI: `{timestamp, message: {type, payload}}`."""

from contextlib import suppress
from typing import Any, Optional

import msgspec

from agentlake.adapters.kimi.where import (
    Content,
    Counts,
    Output,
    Part,
    Time,
    Where,
    call,
    message,
    response,
    result,
)
from agentlake.adapters.sdk.contract import Facts
from agentlake.adapters.sdk.decode import Decoder, Unreadable, untyped
from agentlake.adapters.sdk.values import json_text, parts_of
from agentlake.models.compaction import Compaction
from agentlake.models.fact import Count
from agentlake.models.session import Session
from agentlake.models.usage import Usage


class Function(msgspec.Struct, frozen=True, gc=False):
    """What a model asked a tool to do; the arguments are JSON text."""

    name: str | None = None
    arguments: Any = None


class TokenUsage(msgspec.Struct, frozen=True, gc=False):
    """The usage of one step."""

    input_other: Count | None = None
    output: Count | None = None
    input_cache_read: Count | None = None
    input_cache_creation: Count | None = None


class Payload(msgspec.Struct, frozen=True, gc=False):
    """What an event is about; one for all types."""

    # TurnBegin, SteerInput
    user_input: Content = None
    # ContentPart
    type: str | None = None
    text: str | None = None
    think: str | None = None
    # ToolCall, ToolResult
    id: str | None = None
    function: Function | None = None
    tool_call_id: str | None = None
    return_value: Output | None = None
    # StatusUpdate
    message_id: str | None = None
    token_usage: TokenUsage | None = None
    # SubagentEvent
    parent_tool_call_id: str | None = None
    task_tool_call_id: str | None = None
    agent_id: str | None = None
    subagent_type: str | None = None
    event: Optional["Event"] = None


class Event(msgspec.Struct, frozen=True, gc=False):
    """One thing that happened."""

    type: str | None = None
    payload: Payload | None = None


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line of a wire; the first one only names the protocol."""

    timestamp: Time = None
    message: Event | None = None


LINE = Decoder(Line)


def facts(where: Where, line: Line) -> Facts:
    """The facts of one line."""
    event = line.message
    if event is None or event.payload is None:
        return
    payload = event.payload
    match event.type:
        case "TurnBegin" | "SteerInput":
            yield from message(
                where, "user", "prompt", parts_of(payload.user_input, Part)
            )
        case "ContentPart":
            part = Part(payload.type, payload.text, payload.think)
            yield from response(where, part)
        case "ToolCall":
            called = payload.function or Function()
            given = _arguments(called.arguments)
            yield from call(where, payload.id, called.name, given)
        case "ToolResult":
            yield from result(where, payload.tool_call_id, payload.return_value)
        case "StatusUpdate":
            yield from _usage(where, payload, where.agent_id, 2)
        case "SubagentEvent":
            yield from _mirrored(where, payload)
        case "CompactionEnd":
            yield Compaction(
                session_id=where.session_id,
                agent_id=where.agent_id,
                compaction_id=where.key,
                compacted_at=where.at,
            )
        case _:
            return


def _arguments(said: Any) -> str | None:
    """As JSON text; they are such a text unless the model wrote something else."""
    if isinstance(said, str):
        with suppress(Unreadable):
            untyped(said.encode())
            return said
    return json_text(said)


def _mirrored(where: Where, payload: Payload) -> Facts:
    """An event of a subagent, whose own wire has it as well, if it has one."""
    event = payload.event or Event()
    inner = event.payload or Payload()
    if event.type == "SubagentEvent":  # of a subagent's subagent
        yield from _mirrored(where, inner)
        return
    call = payload.parent_tool_call_id or payload.task_tool_call_id
    agent = payload.agent_id or call
    if event.type == "StatusUpdate":
        yield from _usage(where, inner, agent, 1)
    elif event.type == "TurnBegin" and agent and payload.subagent_type:
        yield Session(
            session_id=where.session_id,
            agent_id=agent,
            agent_type=payload.subagent_type,
        )


def _usage(where: Where, payload: Payload, agent: str | None, precedence: int) -> Facts:
    """One step's usage; an update without is one of the meter.

    A step of a subagent is told by its own wire and by that of its session. Each has
    its own times, and a fork has the latter only.
    """
    if (used := payload.token_usage) is None:
        return
    counts = Counts(
        used.input_other, used.input_cache_read, used.input_cache_creation, used.output
    )
    if counts.are_nothing:
        return
    at = where.at.isoformat() if where.at else where.key
    step = payload.message_id or where.session_id
    yield Usage(
        session_id=where.session_id,
        agent_id=agent,
        request_id=payload.message_id,
        usage_key=f"{payload.message_id or counts.text}@{at}",
        scope=f"{agent}/{step}" if agent else None,
        precedence=precedence if agent else None,
        called_at=where.at,
        input_tokens=counts.input,
        cache_read_tokens=counts.cache_read,
        cache_write_tokens=counts.cache_write,
        output_tokens=counts.output,
    )
