"""What each report shows: the mart that it reads, its order and its columns."""

from collections.abc import Collection, Sequence

import msgspec

from agentlake.errors import UserError, did_you_mean
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
    of: str = "billed calls"
    """What its rows are made of, in words."""
    rows: str = "true"
    """Which rows of the mart it shows."""
    period: str | None = None
    """How long one row is, where the mart's days are added up: day, week or month."""
    has_cost: bool = True
    has_total: bool = False
    can_select: Collection[str] = ("source", "model", "project")
    """By what its rows can be chosen."""


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

PARTS = {"source": _SOURCE, "model": _MODEL}
"""What the rows of a period can be broken down by."""


def _period(period: str, name: str, title: str) -> Report:
    return Report(
        mart="marts.daily_usage",
        order=f"{name} desc",
        shown=[_text(name, title), _CALLS, *_TOKENS, _COST],
        period=period,
        has_total=True,
    )


def broken_down(report: Report, by: Sequence[str]) -> Report:
    """The report of a period with a row for each source or model in it."""
    shown = [report.shown[0], *(PARTS[name] for name in by), *report.shown[1:]]
    order = ", ".join([report.order, *(f"{name} nulls last" for name in by)])
    return msgspec.structs.replace(report, shown=shown, order=order)


REPORTS = {
    "daily": _period("day", "usage_date", "date"),
    "weekly": _period("week", "week_date", "week of"),
    "monthly": _period("month", "month_date", "month"),
    "session": Report(
        mart="marts.session_summary",
        of="sessions in which anything was said or done",
        rows="calls > 0 or messages > 0 or tool_calls > 0",  # the others are empty
        order="updated_at desc nulls last, source, session_id",
        shown=[
            _text("updated_at", "last active"),
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
        of="tool calls",
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
        can_select=("source", "project"),
    ),
    "windows": Report(
        mart="marts.usage_windows",
        order="started_at desc, source",
        shown=[
            _text("started_at", "from"),
            _text("ends_at", "to", dropped=1),
            _SOURCE,
            _CALLS,
            *_TOKENS,
            _COST,
        ],
        can_select=("source",),
    ),
    "unit": Report(
        mart="marts.other_usage",
        of="usage in other units than tokens, such as credits or requests",
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


def in_order(report: Report, wanted: str) -> Report:
    """The report sorted by a column: the largest number first, or texts from a to z.

    Raises UserError, with the nearest name, for a column that it does not show.
    """
    by = {one.column.title: one for one in report.shown}
    by |= {one.name: one for one in report.shown}
    one = by.get(wanted) or by.get(wanted.replace("_", " "))
    if one is None:
        titles = [it.column.title for it in report.shown]
        msg = (
            f"--sort: there is no column {wanted}.{did_you_mean(wanted, by)}"
            f" Known: {', '.join(titles)}."
        )
        raise UserError(msg)
    down = "" if one.kind == "text" else " desc"
    order = f"{one.name}{down} nulls last, {report.order}"
    return msgspec.structs.replace(report, order=order)
