"""Rows of a query as plain Python values, and as JSON or CSV text.

Moments come as text (ISO 8601, UTC), so that they read the same for everybody
and need no time zone library.
"""

import csv
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import duckdb
import msgspec

from agentlake.pipelines.cli.width import clean
from agentlake.pipelines.warehouse.connect import Connection

_MOMENT = "TIMESTAMP WITH TIME ZONE"
_SOME = 5_000
_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")
_ENCODER = msgspec.json.Encoder(decimal_format="number", enc_hook=str)
Row = tuple[Any, ...]


def rows(
    connection: Connection,
    query: str,
    parameters: Mapping[str, object] | None = None,
    *,
    limit: int | None = None,
    zone: str | None = None,
) -> tuple[list[str], list[Row]]:
    """Names and rows of a query's result, none of both if it has no result.

    With a `zone`, moments are its local time to the minute.
    """
    names, relation = _asked(connection, query, parameters, limit, zone)
    return names, relation.fetchall() if names else []


def stream(
    connection: Connection, query: str, *, limit: int | None = None
) -> tuple[list[str], Iterator[Row]]:
    """What `rows` gives, but a few rows at a time, however many there are."""
    names, relation = _asked(connection, query, None, limit, None)
    if not names:
        return [], iter(())
    result = connection.execute(relation.sql_query())  # a relation gives all at once
    return names, chain.from_iterable(iter(lambda: result.fetchmany(_SOME), []))


def _asked(
    connection: Connection,
    query: str,
    parameters: Mapping[str, object] | None,
    limit: int | None,
    zone: str | None,
) -> tuple[list[str], Any]:
    relation = connection.sql(query, params=parameters)
    if relation is None:
        return [], None
    if limit is not None:
        relation = relation.limit(limit)
    return list(relation.columns), _plain(relation, zone)


def _plain(relation: duckdb.DuckDBPyRelation, zone: str | None) -> Any:
    kinds = [str(kind) for kind in relation.types]
    if _MOMENT not in kinds:
        return relation
    # Numbered names: two columns of a user's query may have the same one.
    names = [f"c{number}" for number in range(len(kinds))]
    shown = [
        _local(name, zone) if kind == _MOMENT else name
        for name, kind in zip(names, kinds, strict=True)
    ]
    inner = relation.query("found", f"from found as found({', '.join(names)})")
    assert inner is not None
    return inner.project(", ".join(shown))


def _local(name: str, zone: str | None) -> str:
    if zone is None:
        return f"replace(cast(timezone('UTC', {name}) as varchar), ' ', 'T') || 'Z'"
    return f"left(cast(timezone('{zone}', {name}) as varchar), 16)"


def count_days(
    connection: Connection,
    zone: str,
    since: datetime | None = None,
    until: datetime | None = None,
) -> None:
    """Let this connection's marts count days in a zone, and only from these moments."""
    connection.execute(f"set variable time_zone = '{zone}'")
    for name, moment in (("since", since), ("until", until)):
        if moment is not None:
            text = moment.isoformat()
            connection.execute(f"set variable {name} = timestamptz '{text}'")


def as_json(names: Sequence[str], found: Iterable[Row]) -> str:
    """A list of objects, one a line; decimals are numbers."""
    return "".join(_json(names, found))


def print_json(names: Sequence[str], found: Iterable[Row]) -> None:
    """Print the same, as it comes."""
    for text in _json(names, found):
        print(text, end="")
    print()


def _json(names: Sequence[str], found: Iterable[Row]) -> Iterator[str]:
    before = "[\n"
    for row in found:
        yield before
        yield _ENCODER.encode(dict(zip(names, row, strict=True))).decode()
        before = ",\n"
    yield "[]" if before == "[\n" else "\n]"


def as_text(value: Any) -> Any:
    """A value that stands in one cell: nested ones as JSON."""
    if isinstance(value, list | dict | tuple):
        return _ENCODER.encode(value).decode()
    return value


def print_csv(
    names: Sequence[str], found: Iterable[Row], *, is_safe: bool = False
) -> None:
    """CSV with a header line; null is nothing between two commas.

    `is_safe` puts an apostrophe before texts that a spreadsheet would run as a formula.
    On a terminal texts cannot steer it; in a file they are as they were found.
    """
    show: Callable[[Any], Any] = _for_spreadsheets if is_safe else as_text
    if sys.stdout.isatty():
        show = _for_terminals(show)
    writer = csv.writer(_Lines(), lineterminator=_Lines.END)
    writer.writerow([show(name) for name in names])
    writer.writerows([show(value) for value in row] for row in found)


class _Lines:
    """Standard output, a row a line.

    Python quotes what holds a character of its own line end, so that one has both: a
    lone carriage return in a text would else end a row for who reads it.
    """

    END = "\r\n"

    def write(self, row: str) -> None:
        """Print one row."""
        sys.stdout.write(f"{row.removesuffix(self.END)}\n")


def _for_spreadsheets(value: Any) -> Any:
    text = as_text(value)
    is_formula = isinstance(text, str) and text.startswith(_RUN_BY_SPREADSHEETS)
    return f"'{text}" if is_formula else text


def _for_terminals(show: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def shown(value: Any) -> Any:
        text = show(value)
        return clean(text) if isinstance(text, str) else text

    return shown
