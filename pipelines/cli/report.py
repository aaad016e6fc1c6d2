"""`agentlake report`: one mart as a table or as JSON, for some days or for all."""

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from agentlake.errors import UserError
from agentlake.pipelines.cli.cost_notes import tell_costs
from agentlake.pipelines.cli.days import as_days, span, today_in
from agentlake.pipelines.cli.query import Row, as_json, count_days, print_csv, rows
from agentlake.pipelines.cli.reports import (
    PARTS,
    REPORTS,
    Report,
    Shown,
    broken_down,
    in_order,
)
from agentlake.pipelines.cli.selection import Selection, selected
from agentlake.pipelines.cli.table import (
    count,
    counted,
    duration,
    first,
    is_bold,
    is_looked_at,
    render,
    terminal_width,
    usd,
    usd_column,
)
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.settings.time_zone import checked_time_zone
from agentlake.pipelines.warehouse.connect import Connection, reading

_MOST_ROWS = 50
_COUNTS = (
    "calls",
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "web_search_requests",
    "unpriced_calls",
    "unknown_cost_calls",
)
_DOLLARS = (
    "cost_usd",
    "cost_low_usd",
    "cost_high_usd",
    "assumed_cost_usd",
    "reported_only_usd",
)
_COSTS = ("cost_low_usd", "cost_high_usd", "reported_only_usd", "unknown_cost_calls")
_TO_LOAD = "Load what your agents wrote with `agentlake load`."


def run(args: Namespace, settings: Settings, _: Mapping[str, str]) -> int:
    """Print the report; nothing to show is a line and no error."""
    zone = checked_time_zone(args.tz, "--tz") if args.tz else settings.time_zone
    since, until = span(args.since, args.until, zone, today_in(zone))
    report = _asked_report(args)
    with reading(settings.warehouse) as connection:
        if not _has(connection, report.mart):
            if args.format == "json":
                print("[]")
            print(f"The warehouse is empty. {_TO_LOAD}", file=sys.stderr)
            return 0
        selection = selected(connection, args)
        count_days(connection, zone, since, until)
        if args.format != "table":
            names, found = _ask(connection, report, args.limit)
            if args.format == "csv":
                print_csv(names, found, is_safe=args.csv_safe)
            else:
                print(as_json(names, found))
        else:
            limit = args.limit or (None if args.all else _MOST_ROWS)
            if not show(connection, report, zone, limit=limit):
                asked = as_days(since, until, zone)
                why = _why_nothing(connection, report, selection, asked, zone)
                print(why, file=sys.stderr)
        if report.has_cost:
            tell_costs(connection, is_table=args.format == "table")
    return 0


def _asked_report(args: Namespace) -> Report:
    """The report with what the options make of it. UserError where they do not fit."""
    report = REPORTS[args.report]
    by = list(dict.fromkeys(args.by or (PARTS if args.breakdown else ())))
    if by and report.period is None:
        msg = (
            f"report {args.report} has no parts to show by {' and '.join(by)}."
            " --by and --breakdown are for daily, weekly and monthly."
        )
        raise UserError(msg)
    for option in ("model", "project"):
        if getattr(args, option) and option not in report.can_select:
            msg = f"report {args.report} cannot be limited by --{option}."
            raise UserError(msg)
    report = broken_down(report, by)
    return in_order(report, args.sort) if args.sort else report


def show(
    connection: Connection, report: Report, zone: str, *, limit: int | None = None
) -> bool:
    """Print a report as a table; False if there is nothing to print."""
    # The total, and how many rows there are, are of all, however many are shown.
    names, found = _ask(connection, report, None, zone)
    if not found:
        return False
    values = [dict(zip(names, row, strict=True)) for row in found]
    table = [_cells(report.shown, row) for row in values[:limit]]
    if report.has_total:
        table.append(_total(report.shown, values))
    for place, one in enumerate(report.shown):
        if one.kind == "usd":
            for row, cell in zip(
                table, usd_column([row[place] for row in table]), strict=True
            ):
                row[place] = cell
    columns = [shown.column for shown in report.shown]
    bars = _bars(report, values[:limit]) if is_looked_at() else None
    left_out: list[str] = []
    width = terminal_width()
    print(
        render(
            columns, table, width=width, bold=is_bold(), bars=bars, left_out=left_out
        )
    )
    if left_out:
        print(
            f"No room for {', '.join(left_out)}: widen the terminal, or --csv, --json.",
            file=sys.stderr,
        )
    if limit is not None and len(values) > limit:
        also = ", the total is of all" if report.has_total else ""
        of = first(limit, len(values))
        print(f"{of}{also}; --all shows every one", file=sys.stderr)
    return True


def _bars(report: Report, found: Sequence[Mapping[str, Any]]) -> dict[int, Decimal]:
    """What each row of a period cost; its output where no cost is known."""
    if report.period is None:
        return {}
    is_priced = any(_least(row) for row in found)
    amounts = (_least(row) if is_priced else row["output_tokens"] for row in found)
    return {number: Decimal(amount or 0) for number, amount in enumerate(amounts)}


def _why_nothing(
    connection: Connection, report: Report, selection: Selection, asked: str, zone: str
) -> str:
    of = f" of {selection}" if str(selection) else ""
    if not asked and not of:
        counting = "select count(*) from meta.streams where records > 0"
        ((streams,),) = connection.execute(counting).fetchall()
        if streams:
            verb = "holds" if streams == 1 else "hold"
            return f"{counted(streams, 'loaded stream')} {verb} no {report.of}."
        return f"Nothing yet: no history is loaded. {_TO_LOAD}"
    newest = f"""
        select cast(timezone('{zone}', max(called_at)) as date) from core.usage
        where is_chosen(source, session_id) and is_chosen_model(model)
    """
    ((day,),) = connection.execute(newest).fetchall()
    nothing = " ".join(filter(None, ["Nothing", asked]))
    if day is None:
        return f"{nothing}: there are no calls{of} yet. {_TO_LOAD}"
    return f"{nothing}; the newest call{of} was on {day}."


def _ask(
    connection: Connection, report: Report, limit: int | None, zone: str | None = None
) -> tuple[list[str], list[Row]]:
    query = f"{_rows_of(report)} order by {report.order}"
    return rows(connection, query, limit=limit, zone=zone)


def _rows_of(report: Report) -> str:
    """The mart, its days added up to periods where the report has such."""
    if report.period is None:
        return f"select * from {report.mart} where {report.rows}"
    name = report.shown[0].name
    parts = [one.name for one in report.shown if one.name in PARTS]
    sums = [f"cast(sum({one}) as bigint) as {one}" for one in _COUNTS]
    sums += [f"cast(sum({one}) as decimal(18, 6)) as {one}" for one in _DOLLARS]
    begins = f"cast(date_trunc('{report.period}', usage_date) as date) as {name}"
    columns = ", ".join([begins, *parts, *sums])
    return f"select {columns} from {report.mart} group by all"


def _cells(shown: Sequence[Shown], row: Mapping[str, Any]) -> list[str]:
    return [_cell(one, row) for one in shown]


def _cell(shown: Shown, row: Mapping[str, Any]) -> str:
    value = row[shown.name]
    match shown.kind:
        case "count":
            return count(value)
        case "usd":
            return _cost(row)
        case "amount":
            return "-" if value is None else f"{value:,.2f}"
        case "ms":
            return duration(value)
    return "-" if value is None else str(value)


def _least(row: Mapping[str, Any]) -> Decimal | None:
    """What it cost at least: by our prices, else as the agent itself reported it."""
    known = [row["cost_low_usd"], row["reported_only_usd"]]
    return sum((it for it in known if it is not None), Decimal(0)) or next(
        (it for it in known if it is not None), None
    )


def _cost(row: Mapping[str, Any]) -> str:
    """Ours, in its absence the agent's own; marked by what is missing or assumed."""
    reported, high = row["reported_only_usd"], row["cost_high_usd"]
    return usd(
        _least(row),
        None if high is None else high + (reported or 0),
        partly=row["unknown_cost_calls"] > 0 and _least(row) is not None,
        reported=bool(reported),
    )


def _total(shown: Sequence[Shown], found: Sequence[Mapping[str, Any]]) -> list[str]:
    """The last line: sums of what is known, under the word total."""
    sums: dict[str, Any] = {}
    names = [one.name for one in shown if one.kind != "text"]
    for name in dict.fromkeys([*names, *_COSTS]):
        known = [row[name] for row in found if row[name] is not None]
        sums[name] = sum(known) if known else None
    texts = {one.name: "" for one in shown if one.kind == "text"}
    sums["unknown_cost_calls"] = sums["unknown_cost_calls"] or 0
    return _cells(shown, sums | texts | {shown[0].name: "total"})


def _has(connection: Connection, mart: str) -> bool:
    schema, name = mart.split(".")
    found = connection.execute(
        "select 1 from information_schema.tables "
        "where table_schema = $1 and table_name = $2",
        [schema, name],
    )
    return bool(found.fetchall())
