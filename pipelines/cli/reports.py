"""What each report shows: the mart that it reads, its order and its columns."""

from collections.abc import Sequence

import msgspec

from agentlake.pipelines.cli.table import Column


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A column of a mart, and how a person sees it."""

    name: str
    kind: str
    """text, count, amount, usd or ms."""
    column: Column


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One report: everything of the mart in JSON, the columns here in the table."""

    mart: str
    order: str
    shown: Sequence[Shown]
    has_cost: bool = True
    has_total: bool = False
    barred_by: str | None = None
    """The column whose values get a bar each, of what they cost together."""


def _text(
    name: str, title: str, *, gives_way: str | None = None, dropped: int = 0
) -> Shown:
    column = Column(title=title, gives_way=gives_way, dropped=dropped)
    return Shown(name=name, kind="text", column=column)


def _number(name: str, title: str, *, kind: str = "count", dropped: int = 0) -> Shown:
    column = Column(title=title, right=True, dropped=dropped)
    return Shown(name=name, kind=kind, column=column)


_SOURCE = _text("source", "source")
_MODEL = _text("model", "model", gives_way="end")
_CALLS = _number("calls", "calls")
_COST = _number("cost_usd", "cost", kind="usd")
_OUTPUT = _number("output_tokens", "output", dropped=2)
_TOKENS = (
    _number("input_tokens", "input", dropped=3),
    _number("cache_read_tokens", "cache read", dropped=4),
    _number("cache_write_tokens", "cache write", dropped=5),
    _OUTPUT,
)
_LAST = _text("last_called_at", "last call", dropped=6)
_BIGGEST = "cost_usd desc nulls last, output_tokens desc nulls last, source"

REPORTS = {
    "daily": Report(
        mart="marts.daily_usage",
        order="usage_date desc, source, model nulls last",
        shown=[_text("usage_date", "date"), _SOURCE, _MODEL, _CALLS, *_TOKENS, _COST],
        has_total=True,
        barred_by="usage_date",
    ),
    "session": Report(
        mart="marts.session_summary",
        order="started_at desc nulls last, source, session_id",
        shown=[
            _text("started_at", "started"),
            _SOURCE,
            _text("title", "title", gives_way="end"),
            _text("project", "project", gives_way="start", dropped=3),
            _number("messages", "messages", dropped=5),
            _number("tool_calls", "tools", dropped=4),
            _CALLS,
            _OUTPUT,
            _COST,
            _text("session_id", "session", dropped=6),
        ],
    ),
    "model": Report(
        mart="marts.model_usage",
        order=f"{_BIGGEST}, model, provider",
        shown=[
            _SOURCE,
            _text("provider", "provider", dropped=7),
            _MODEL,
            _CALLS,
            *_TOKENS,
            _LAST,
            _COST,
        ],
    ),
    "project": Report(
        mart="marts.project_usage",
        order=f"{_BIGGEST}, project",
        shown=[
            _SOURCE,
            _text("project", "project", gives_way="start"),
            _number("sessions", "sessions", dropped=1),
            _CALLS,
            *_TOKENS,
            _LAST,
            _COST,
        ],
    ),
    "tool": Report(
        mart="marts.tool_usage",
        order="calls desc, source, name",
        shown=[
            _SOURCE,
            _text("name", "tool", gives_way="end"),
            _CALLS,
            _number("failed", "failed"),
            _number("no_result", "no result", dropped=4),
            _number("sessions", "sessions", dropped=3),
            _number("median_duration_ms", "median", kind="ms", dropped=1),
            _number("total_duration_ms", "total", kind="ms", dropped=2),
            _text("last_called_at", "last call", dropped=6),
        ],
        has_cost=False,
    ),
    "unit": Report(
        mart="marts.other_usage",
        order="usage_date desc, source, unit, model nulls last",
        shown=[
            _text("usage_date", "date"),
            _SOURCE,
            _MODEL,
            _text("unit", "unit"),
            _number("amount", "amount", kind="amount"),
        ],
        has_cost=False,
    ),
}
