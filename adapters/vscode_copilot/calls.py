"""Calls that are told one by one: by the debug log, or by the trace database."""

from datetime import UTC, datetime

import msgspec

from agentlake.adapters.sdk.contract import Facts, Record, Reject, Table
from agentlake.adapters.sdk.decode import Decoder
from agentlake.adapters.sdk.moments import moment
from agentlake.models.fact import Count
from agentlake.models.usage import Usage

TABLES = (
    Table(
        name="spans",
        key=("span_id",),
        order="start_time_ms",
        where="operation_name = 'chat'",
    ),
)
LOG, TRACES, CHAT = 3, 2, 1
"""Precedence of each place, where several report one session."""

AI_UNITS_SINCE = datetime(2026, 6, 1, tzinfo=UTC)
_NANO_AIU_PER_USD = 1e11


class Attributes(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a call cost; the prompt includes what the cache had."""

    model: str | None = None
    input_tokens: Count | None = None
    cached_tokens: Count | None = None
    output_tokens: Count | None = None
    copilot_usage_nano_aiu: Count | None = None


class Line(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A line of the debug log."""

    ts: int | float | str | None = None
    type: str | None = None
    span_id: str | None = None
    attrs: Attributes | None = None


class Span(msgspec.Struct, frozen=True, gc=False):
    """A call in the trace database."""

    span_id: str | None = None
    chat_session_id: str | None = None
    request_model: str | None = None
    response_model: str | None = None
    input_tokens: Count | None = None
    cached_tokens: Count | None = None
    output_tokens: Count | None = None
    end_time_ms: int | float | None = None


_LINE = Decoder(Line)
_SPAN = Decoder(Span)


def without(whole: int | None, cached: int | None) -> int | None:
    """The prompt without what the cache had, where it includes that."""
    if whole is None or whole < (cached or 0):
        return whole
    return whole - (cached or 0)


def logged(session: str, record: Record) -> Facts:
    """A line of the debug log, if it is a request to a model."""
    line, rejects = _LINE.decode(record.data)
    told = line.attrs or Attributes()
    if line.type != "llm_request":
        return
    at = moment(line.ts)
    cost = told.copilot_usage_nano_aiu
    if told.input_tokens is not None or told.output_tokens is not None:
        yield Usage(
            session_id=session,
            usage_key=f"{session}/log/{line.span_id or record.key}",
            scope=session,
            precedence=LOG,
            model=told.model,
            called_at=at,
            input_tokens=without(told.input_tokens, told.cached_tokens),
            cache_read_tokens=told.cached_tokens,
            output_tokens=told.output_tokens,
            reported_cost_usd=(
                cost / _NANO_AIU_PER_USD
                if cost is not None and at and at >= AI_UNITS_SINCE
                else None
            ),
        )
    yield from rejects


def span(data: bytes) -> Facts:
    """A call in the trace database; without its chat it belongs nowhere."""
    told, rejects = _SPAN.decode(data)
    yield from rejects
    if told.input_tokens is None and told.output_tokens is None:
        return
    if not told.chat_session_id:
        yield Reject("a call of the trace database without chat_session_id")
        return
    yield Usage(
        session_id=told.chat_session_id,
        usage_key=f"{told.chat_session_id}/span/{told.span_id}",
        scope=told.chat_session_id,
        precedence=TRACES,
        model=told.response_model or told.request_model,
        called_at=moment(told.end_time_ms),
        input_tokens=without(told.input_tokens, told.cached_tokens),
        cache_read_tokens=told.cached_tokens,
        output_tokens=told.output_tokens,
    )
