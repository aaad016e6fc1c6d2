"""`agentlake sql`: one read-only query, shut off from everything but the warehouse."""

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import duckdb

from agentlake.models.errors import UserError
from agentlake.pipelines.cli.query import (
    Row,
    as_csv,
    as_json,
    as_text,
    count_days,
    rows,
)
from agentlake.pipelines.cli.table import Column, first, is_bold, render, terminal_width
from agentlake.pipelines.settings import Settings
from agentlake.pipelines.warehouse.connect import Connection, reading

_MOST_ROWS = 200
# DuckDB knows how many rows a table has without reading it; a view it would compute.
# What begins with _ is a step on the way to another table, and nobody's business.
_TABLES = """
    select
        schema_name || '.' || table_name as name, estimated_size as rows,
        coalesce(comment, '') as description
    from duckdb_tables()
    where database_name = current_database() and schema_name <> 'main'
        and not starts_with(table_name, '_')
    union all
    select schema_name || '.' || view_name, null, coalesce(comment, '')
    from duckdb_views()
    where database_name = current_database() and schema_name in ('marts', 'core')
        and not starts_with(view_name, '_')
    order by
        instr('marts core meta staging raw', split_part(name, '.', 1)), name
"""


def run(args: Namespace, settings: Settings, _: Mapping[str, str]) -> int:
    """Run the query, or list the tables; print it in the format that is asked for."""
    query = _query(args)
    with reading(settings.warehouse) as connection:
        _shut_off(connection, settings.time_zone)
        most = args.limit or (_MOST_ROWS if args.format == "table" else None)
        try:
            if query:
                _refuse_many(connection, query)
            names, found = rows(
                connection, query or _TABLES, limit=None if most is None else most + 1
            )
        except duckdb.Error as error:
            raise UserError(str(error)) from error
    more = most is not None and len(found) > most
    found = found[:most]
    if names:
        print(_text(names, found, args.format))
        if not found and args.format == "table":
            print("(no rows)", file=sys.stderr)
    if most is not None and more and not args.limit:
        print(
            f"{first(most)}; --limit N shows more, --format csv all",
            file=sys.stderr,
        )
    return 0


def _query(args: Namespace) -> str | None:
    if args.file is not None and args.query is not None:
        msg = "give either a query or -f FILE, not both."
        raise UserError(msg)
    if args.query == "-":
        return sys.stdin.read()
    if args.file is None:
        return args.query  # type: ignore[no-any-return]
    try:
        return args.file.read_text(encoding="utf-8")  # type: ignore[no-any-return]
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "is not UTF-8 text"
        msg = f"{args.file}: {reason}"
        raise UserError(msg) from error


def _refuse_many(connection: Connection, query: str) -> None:
    """Of several statements only the last one's rows would be seen."""
    given = len(connection.extract_statements(query))
    if given != 1:
        were = f"{given} were" if given else "none was"
        msg = f"one statement at a time; {were} given."
        raise UserError(msg)


def _shut_off(connection: Connection, zone: str) -> None:
    """Days are the user's; files, the network and settings are out of reach."""
    count_days(connection, zone)
    connection.execute(f"set timezone = '{zone}'")
    connection.execute("set python_enable_replacements = false")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _text(names: Sequence[str], found: Sequence[Row], shape: str) -> str:
    if shape == "json":
        return as_json(names, found)
    if shape == "csv":
        return as_csv(names, found)
    if names[0] == "explain_key":  # a drawing of many lines
        return "\n".join(str(row[1]) for row in found)
    numbers = (int, float, Decimal)
    columns = [
        Column(
            title=name,
            right=any(isinstance(row[place], numbers) for row in found),
            gives_way=None if place == 0 else "end",
        )
        for place, name in enumerate(names)
    ]
    cells = [[_cell(value) for value in row] for row in found]
    return render(columns, cells, width=terminal_width(), bold=is_bold())


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, Decimal):  # 0.5 for 0.500000, 0 for 0E-18
        return f"{value.normalize():f}"
    return str(as_text(value))
