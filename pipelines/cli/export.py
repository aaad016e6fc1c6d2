"""`agentlake export`: marts, other tables, or a query, as Parquet files."""

import json
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from agentlake.errors import UserError, did_you_mean
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.parquet import write_parquet
from agentlake.pipelines.warehouse.sandbox import one_question, sandbox

_TABLES = """
    select schema_name || '.' || table_name from duckdb_tables()
    where database_name = current_database() and schema_name <> 'main'
    union all
    select schema_name || '.' || view_name from duckdb_views()
    where database_name = current_database() and not internal
    order by all
"""


def run(args: Namespace, settings: Settings, _: Mapping[str, str]) -> int:
    """Write the files, and say which and how many rows."""
    place = args.place.expanduser()
    if args.query is not None and args.tables:
        msg = "give either tables or --query, not both."
        raise UserError(msg)
    with sandbox(
        settings.warehouse, settings.time_zone, seconds=args.timeout
    ) as connection:
        if args.query is not None:
            wanted = {place: one_question(connection, args.query)}
        else:
            names = _named(connection, args.tables)
            _make_folder(place)
            wanted = {
                place / f"{name}.parquet": f"from {_quoted(name)}" for name in names
            }
        written = [
            (path, write_parquet(connection.sql(query), path, settings.warehouse))
            for path, query in wanted.items()
        ]
    if args.json:
        print(json.dumps([{"path": str(path), "rows": n} for path, n in written]))
    else:
        for path, rows in written:
            print(f"{rows:,} rows in {path}", file=sys.stderr)
    return 0


def _named(connection: Connection, asked: Sequence[str]) -> list[str]:
    """The tables that are asked for, or all marts. UserError for one there is not."""
    known = [name for (name,) in connection.execute(_TABLES).fetchall()]
    for name in asked:
        if name not in known:
            guess = did_you_mean(name, known)
            msg = f"there is no table {name}.{guess} `agentlake sql` lists all."
            raise UserError(msg)
    return list(asked) or [name for name in known if name.startswith("marts.")]


def _make_folder(place: Path) -> None:
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        msg = f"{place}: is to be a folder, but {error.strerror}. Nothing was written."
        raise UserError(msg) from error


def _quoted(name: str) -> str:
    return ".".join(f'"{part}"' for part in name.split(".", 1))
