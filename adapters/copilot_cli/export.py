"""The OpenTelemetry export: a span or a log per line, if somebody asked for it."""

from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from typing import Any

from agentlake.adapters.copilot_cli.format import (
    EXPORTED,
    Exported,
    SpanContext,
)
from agentlake.adapters.copilot_cli.runs import disjoint, scope
from agentlake.adapters.families.copilot.format import Tokens
from agentlake.adapters.sdk.contract import Facts, Record, Reject
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.sdk.values import json_text
from agentlake.models.usage import Usage

_INFERENCE = "gen_ai.client.inference.operation.details"
_LEVELS = {
    "chat": 34,
    _INFERENCE: 33,
    "copilot_chat.agent.turn": 32,
    "invoke_agent": 31,
}
"""Precedence of what reports a call; the database's is higher than the export's."""
_COUNTS = {
    "input": ("input_tokens",),
    "output": ("output_tokens",),
    "cache_read": ("cache_read.input_tokens", "cache_read_input_tokens"),
    "cache_write": (
        "cache_creation.input_tokens",
        "cache_write.input_tokens",
        "cache_creation_input_tokens",
    ),
    "reasoning": ("reasoning.output_tokens", "reasoning_tokens"),
}
"""The names of the counts, in the order of `Tokens`."""
_SESSIONS = (
    "gen_ai.conversation.id",
    "copilot_chat.session_id",
    "copilot_chat.chat_session_id",
    "session.id",
)
_MOST_TOKENS = 1 << 40


def exported(record: Record) -> Facts:
    """A span or log of the export, if it reports tokens.

    One call may be reported on several levels (the call, the turn, the agent's whole
    work): each level has its precedence, and only the most exact one counts.
    """
    line, rejects = EXPORTED.decode(record.data)
    attributes = line.attributes or {}
    precedence = _LEVELS.get(_level(line))
    if precedence is None:
        return
    yield from _odd(attributes)
    tokens = disjoint(
        Tokens(*(_count(attributes, *names) for names in _COUNTS.values()))
    )
    if not any(tokens):
        return
    model = _word(attributes, "gen_ai.response.model", "gen_ai.request.model")
    session = _word(attributes, *_SESSIONS)
    if not session or not model:
        yield Reject("tokens of the export without session or model: not booked")
        return
    at = next(
        filter(None, map(_moment, (line.end_time, line.timestamp, line.time))), None
    )
    yield Usage(
        session_id=session,
        usage_key=_word(attributes, "gen_ai.response.id")
        or _span(line)
        or f"{session}/export/{record.key}",
        scope=scope(session, model),
        precedence=precedence,
        model=model,
        called_at=at or _moment(line.hr_time) or _moment(line.start_time),
        input_tokens=tokens.input,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
        output_tokens=tokens.output,
        reasoning_tokens=tokens.reasoning,
    )
    yield from rejects


def _level(line: Exported) -> str:
    attributes = line.attributes or {}
    known = _word(attributes, "event.name", "gen_ai.operation.name") or line.name
    if known:
        return known.partition(" ")[0]
    body = line.body if isinstance(line.body, str) else line.other_body
    if isinstance(body, str) and body.startswith("GenAI inference:"):
        return _INFERENCE
    return body.partition(":")[0] if isinstance(body, str) else ""


def _span(line: Exported) -> str | None:
    """What names it, if it has no id of a response."""
    of = line.span_context or SpanContext()
    trace, span = line.trace_id or of.trace_id, line.span_id or of.span_id
    return f"{trace}/{span}" if trace and span else None


def _word(attributes: dict[str, Any], *names: str) -> str | None:
    found = (attributes.get(name) for name in names)
    return next((word for word in found if isinstance(word, str) and word), None)


def _count(attributes: dict[str, Any], *names: str) -> int | None:
    """The first of these that is a count."""
    counts = (_number(attributes.get(f"gen_ai.usage.{name}")) for name in names)
    return next((count for count in counts if count is not None), None)


def _number(value: Any) -> int | None:
    """A count; exporters write whole numbers also as texts, and as floats."""
    if isinstance(value, str):
        value = int(value) if value.isascii() and value.isdigit() else None
    if isinstance(value, float):
        value = int(value) if value.is_integer() else None
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None


def _odd(attributes: dict[str, Any]) -> Iterator[Reject]:
    for name in chain.from_iterable(_COUNTS.values()):
        value = attributes.get(f"gen_ai.usage.{name}")
        if value is not None and _number(value) is None:
            yield Reject(f"gen_ai.usage.{name} is no count: {json_text(value)}")


def _moment(value: Any) -> datetime | None:
    """A time of the export: as others write it, or as [seconds, nanoseconds]."""
    match value:
        case [int() | float() as seconds, int() | float() as nanos]:
            return moment(seconds + nanos / 1e9)
        case int() | float() | str():
            return moment(value)
    return None
