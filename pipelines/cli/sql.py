"""`agentlake sql`: one read-only query, shut off from everything but the warehouse."""

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from agentlake.errors import UserError
from agentlake.pipelines.cli.query import (
    Row,
    as_text,
    print_csv,
    print_json,
    rows,
    stream,
)
from agentlake.pipelines.cli.table import (
    Column,
    first,
    is_bold,
    render,
    terminal_width,
)
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.sandbox import one_question, sandbox

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
    union all
    select
        function_name || '(' || array_to_string(parameters, ', ') || ')', null,
        coalesce(comment, '')
    from duckdb_functions()
    where database_name = current_database() and function_type = 'table_macro'
    order by
        contains(name, '('),
        instr('marts core meta staging raw', split_part(name, '.', 1)), name
"""


def run(args: Namespace, settings: Settings, _: Mapping[str, str]) -> int:
    """Run the query, or list the tables; print it in the format that is asked for."""
    query = asked(args) or _TABLES
    with sandbox(
        settings.warehouse, settings.time_zone, seconds=args.timeout
    ) as connection:
        query = one_question(connection, query)
        if args.parquet is not None:
            _write(connection, query, args.parquet.expanduser(), settings.warehouse)
        elif args.format == "table":
            _show(connection, query, args.limit)
        else:
            names, found = stream(connection, query, limit=args.limit)
            if args.format == "csv":
                print_csv(names, found, is_safe=args.csv_safe)
            else:
                print_json(names, found)
    return 0


def asked(args: Namespace) -> str | None:
    """The query that was given, in whichever way; None if none was."""
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


def _write(connection: Connection, query: str, path: Path, warehouse: Path) -> None:
    # Imported here: Arrow takes longer than most queries.
    from agentlake.pipelines.warehouse.parquet import write_parquet

    written = write_parquet(connection.sql(query), path, warehouse)
    print(f"{written:,} rows in {path}", file=sys.stderr)


def _show(connection: Connection, query: str, limit: int | None) -> None:
    most = limit or _MOST_ROWS
    names, found = rows(connection, query, limit=most + 1)
    if not names:
        return
    print(_text(names, found[:most]))
    if not found:
        print("(no rows)", file=sys.stderr)
    if len(found) > most and not limit:
        print(f"{first(most)}; --limit N shows more, --csv all", file=sys.stderr)


def _text(names: Sequence[str], found: Sequence[Row]) -> str:
    if names[0] == "explain_key":  # a drawing of many lines
        return "\n".join(str(row[1]) for row in found)
    numbers = (int, float, Decimal)
    columns = [
        Column(
            title=name,
            right=any(isinstance(row[place], numbers) for row in found),
            gives_way="end",
            is_whole=place == 0,
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
