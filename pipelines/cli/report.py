"""`agentlake report`: one mart as a table or as JSON, for some days or for all."""

import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from agentlake.errors import UserError, did_you_mean
from agentlake.pipelines.cli.days import as_days, span, today_in
from agentlake.pipelines.cli.query import Row, as_json, count_days, rows
from agentlake.pipelines.cli.reports import REPORTS, Report, Shown
from agentlake.pipelines.cli.table import (
    count,
    duration,
    first,
    is_bold,
    is_looked_at,
    render,
    terminal_width,
    usd,
    usd_column,
)
from agentlake.pipelines.cli.width import clean
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.settings.time_zone import checked_time_zone
from agentlake.pipelines.warehouse.connect import Connection, reading

_MOST_ROWS = 50
_MOST_MODELS = 5
_COSTS = ("cost_low_usd", "cost_high_usd", "reported_only_usd", "unknown_cost_calls")
_TO_LOAD = "Load what your agents wrote with `agentlake load`."


def run(args: Namespace, settings: Settings, _: Mapping[str, str]) -> int:
    """Print the report; nothing to show is a line and no error."""
    zone = checked_time_zone(args.tz, "--tz") if args.tz else settings.time_zone
    since, until = span(args.since, args.until, zone, today_in(zone))
    with reading(settings.warehouse) as connection:
        report = REPORTS[args.report]
        if not _has(connection, report.mart):
            if args.json:
                print("[]")
            print(f"The warehouse is empty. {_TO_LOAD}", file=sys.stderr)
            return 0
        _check_source(connection, args.source)
        count_days(connection, zone, since, until)
        if args.json:
            print(as_json(*_ask(connection, report, args.source, args.limit)))
        else:
            limit = args.limit or (None if args.all else _MOST_ROWS)
            if not show(connection, args.report, zone, source=args.source, limit=limit):
                asked = as_days(since, until, zone)
                why = _why_nothing(connection, args.source, asked, zone)
                print(why, file=sys.stderr)
        if report.has_cost:
            _tell_costs(connection, args.source, is_table=not args.json)
            _tell_units(connection, args.source)
    return 0


def show(
    connection: Connection,
    name: str,
    zone: str,
    *,
    source: str | None = None,
    limit: int | None = None,
) -> bool:
    """Print a report as a table; False if there is nothing to print."""
    report = REPORTS[name]
    # The total, and how many rows there are, are of all, however many are shown.
    names, found = _ask(connection, report, source, None, zone)
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
    bars = _bars(report.barred_by, values[:limit]) if is_looked_at() else None
    width = terminal_width()
    print(render(columns, table, width=width, bold=is_bold(), bars=bars))
    if limit is not None and len(values) > limit:
        also = ", the total is of all" if report.has_total else ""
        of = first(limit, len(values))
        print(f"{of}{also}; --all shows every one", file=sys.stderr)
    return True


def _bars(day: str | None, found: Sequence[Mapping[str, Any]]) -> dict[int, Decimal]:
    """What each day cost, at its first row; its output where no cost is known."""
    if day is None:
        return {}
    is_priced = any(_least(row) for row in found)
    sums: dict[Any, Decimal] = {}
    first_rows: dict[Any, int] = {}
    for number, row in enumerate(found):
        first_rows.setdefault(row[day], number)
        amount = _least(row) if is_priced else row["output_tokens"]
        amount = Decimal(amount or 0)
        sums[row[day]] = sums.get(row[day], Decimal(0)) + amount
    return {number: sums[of] for of, number in first_rows.items()}


def _why_nothing(
    connection: Connection, source: str | None, asked: str, zone: str
) -> str:
    if not asked:
        return f"Nothing yet. {_TO_LOAD}"
    newest = f"""
        select cast(timezone('{zone}', max(called_at)) as date) from core.usage
        where $source is null or source = $source
    """
    ((day,),) = connection.execute(newest, {"source": source}).fetchall()
    of = f" of {source}" if source else ""
    if day is None:
        return f"Nothing {asked}: there are no calls{of} yet. {_TO_LOAD}"
    return f"Nothing {asked}; the newest call{of} was on {day}."


def _ask(
    connection: Connection,
    report: Report,
    source: str | None,
    limit: int | None,
    zone: str | None = None,
) -> tuple[list[str], list[Row]]:
    query = f"select * from {report.mart}"
    parameters: dict[str, object] = {}
    if source is not None:
        query += " where source = $source"
        parameters["source"] = source
    query += f" order by {report.order}"
    return rows(connection, query, parameters, limit=limit, zone=zone)


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


def _tell_costs(connection: Connection, source: str | None, *, is_table: bool) -> None:
    """What the costs are, and how sure: what is assumed, or the agent's own."""
    query = """
        select
            sum(cost_high_usd) filter (where price_assumptions is not null) as assumed,
            string_agg(distinct price_assumptions, ', ') as assumptions,
            sum(reported_cost_usd) filter (where cost_low_usd is null) as reported,
            count(*) filter (where cost_high_usd > cost_low_usd) as bounded,
            count(cost_low_usd) as priced
        from core.usage
        where unit in ('tokens', 'usd') and is_asked_for(called_at)
            and ($source is null or source = $source)
    """
    _, ((assumed, assumptions, reported, bounded, priced),) = rows(
        connection, query, {"source": source}
    )
    notes = []
    if priced:
        notes.append(
            "Costs are what the API would have charged: a subscription costs its fee."
        )
    if reported and is_table:
        notes.append(f"* {usd(reported)} is the agent's own figure: we know no price.")
    if bounded and is_table:
        notes.append("A range: a total does not say how large each of its calls was.")
    if assumed:
        steps = ", ".join(sorted({it.strip() for it in assumptions.split(",")}))
        notes.append(
            f"{usd(assumed)} rests on assumptions ({steps}): `agentlake prices MODEL`"
        )
    for note in notes:
        print(note, file=sys.stderr)
    _tell_unpriced(connection, source, is_table=is_table)


def _tell_unpriced(
    connection: Connection, source: str | None, *, is_table: bool
) -> None:
    """Unknown cost is loud: how many calls have none, and of which models."""
    query = """
        select coalesce(model, '(no model)') as model, count(*) as calls
        from core.usage
        where cost_low_usd is null and reported_cost_usd is null
            and unit = 'tokens' and is_asked_for(called_at)
            and ($source is null or source = $source)
        group by all order by calls desc, model
    """
    _, found = rows(connection, query, {"source": source})
    if found:
        named = [f"{clean(model)} ({calls:,})" for model, calls in found[:_MOST_MODELS]]
        if more := len(found) - len(named):
            named.append(f"{more:,} more")
        total = sum(calls for _, calls in found)
        print(
            f"{total:,} {'call has' if total == 1 else 'calls have'} no known cost and"
            f" {'is' if total == 1 else 'are'} in no sum: {', '.join(named)}\n"
            f"  {'>= means more than this. ' if is_table else ''}To price a model:"
            ' [prices."its name"] in the settings file, then `agentlake load`; why:'
            " `from marts.unpriced_models`.",
            file=sys.stderr,
        )


def _tell_units(connection: Connection, source: str | None) -> None:
    """What is counted in no tokens is in no sum of this report: where it is."""
    query = """
        select distinct unit from core.usage
        where unit not in ('tokens', 'usd') and is_asked_for(called_at)
            and ($source is null or source = $source)
        order by unit
    """
    _, found = rows(connection, query, {"source": source})
    if found:
        units = ", ".join(unit for (unit,) in found)
        print(
            f"What is counted in {units} is in no sum: `agentlake report unit`",
            file=sys.stderr,
        )


def _check_source(connection: Connection, name: str | None) -> None:
    """Raise UserError for a source that neither is known nor has any rows."""
    from agentlake.adapters.registry import names

    if name is None or name in names():
        return
    found = connection.execute("select distinct source from meta.streams").fetchall()
    known: Iterable[str] = sorted({*names(), *(source for (source,) in found)})
    if name not in known:
        guess = did_you_mean(name, known)
        msg = f"unknown source {name}.{guess} Known: {', '.join(known)}."
        raise UserError(msg)


def _has(connection: Connection, mart: str) -> bool:
    schema, name = mart.split(".")
    found = connection.execute(
        "select 1 from information_schema.tables "
        "where table_schema = $1 and table_name = $2",
        [schema, name],
    )
    return bool(found.fetchall())
