"""Events of Kimi Code: `{type, time, ...}`."""

from typing import Any

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
from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.decode import Decoder
from agentlake.adapters.sdk.values import json_text, parts_of
from agentlake.models.fact import Count
from agentlake.models.session import Session
from agentlake.models.turn import Turn
from agentlake.models.usage import Usage


class UsageCounts(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The usage of one call."""

    input_other: Count | None = None
    output: Count | None = None
    input_cache_read: Count | None = None
    input_cache_creation: Count | None = None


class Origin(msgspec.Struct, frozen=True, gc=False):
    """What a prompt comes from: `user`, or one of many others."""

    kind: str | None = None


class LoopEvent(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What happened within a step."""

    type: str | None = None
    part: Part | None = None
    tool_call_id: str | None = None
    name: str | None = None
    args: Any = None
    result: Output | None = None
    usage: UsageCounts | None = None
    model: str | None = None


class Line(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One line of a wire."""

    type: str | None = None
    time: Time = None
    cwd: str | None = None
    profile_name: str | None = None
    input: Content = None
    origin: Origin | None = None
    event: LoopEvent | None = None
    model: str | None = None
    model_alias: str | None = None
    usage: UsageCounts | None = None


LINE = Decoder(Line)


def facts(where: Where, line: Line) -> Facts:
    """The facts of one line."""
    match line.type:
        case "usage.record":
            yield from _usage(where, line.usage, line.model, "record", 2)
        case "llm.request" if line.model and line.model_alias:
            yield Turn(
                session_id=where.session_id,
                turn_id=line.model_alias,
                kind="context",
                model=line.model,
            )
        case "turn.prompt" | "turn.steer":
            yield from _prompt(where, line)
        case "context.append_loop_event":
            yield from _step(where, line.event or LoopEvent())
        case "config.update":
            yield Session(
                session_id=where.session_id,
                agent_id=where.agent_id,
                cwd=line.cwd,
                agent_type=line.profile_name if where.agent_id else None,
            )
        case "forked" if where.agent_id is None:
            yield Session(session_id=where.session_id, relation="fork")
        case _:
            return


def _prompt(where: Where, line: Line) -> Facts:
    origin = (line.origin.kind if line.origin else None) or "user"
    kind = {"user": "prompt", "compaction_summary": "compaction_summary"}
    yield from message(
        where,
        "user",
        kind.get(origin, "meta"),
        parts_of(line.input, Part),
        None if origin in kind else origin,
    )


def _step(where: Where, event: LoopEvent) -> Facts:
    match event.type:
        case "content.part" if event.part:
            yield from response(where, event.part)
        case "tool.call":
            yield from call(
                where, event.tool_call_id, event.name, json_text(event.args)
            )
        case "tool.result":
            yield from result(where, event.tool_call_id, event.result)
        case "step.end":
            yield from _usage(where, event.usage, event.model, "step", 1)
        case _:
            return


def _usage(
    where: Where,
    used: UsageCounts | None,
    model: str | None,
    kind: str,
    precedence: int,
) -> Facts:
    """The usage of one call; that of a step only counts in a wire without records."""
    if used is None:
        if kind == "record":
            yield Reject("usage.record without usage")
        return
    counts = Counts(
        used.input_other, used.input_cache_read, used.input_cache_creation, used.output
    )
    if counts.are_nothing:
        return
    agent = where.agent_id or "main"
    at = where.at.isoformat() if where.at else where.key
    yield Usage(
        session_id=where.session_id,
        agent_id=where.agent_id,
        usage_key=f"{agent}@{at}/{kind}/{model or ''}/{counts.text}",
        scope=f"{where.session_id}/{agent}",
        precedence=precedence,
        turn_id=model,
        model=model,
        called_at=where.at,
        input_tokens=counts.input,
        cache_read_tokens=counts.cache_read,
        cache_write_tokens=counts.cache_write,
        output_tokens=counts.output,
    )
