"""What the header of a model promises, as asset checks: one pass over its rows.

    grain   a, b            no two rows have the same a and b
    checks  not_null(a, b)  neither is ever null
            expect(a >= 0)  true for every row

A check never stops the models after it: wrong rows are shown, and the rest is there.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime
from typing import Any

import dagster as dg
import duckdb
import msgspec

from agentlake.pipelines.transform.sql_models import Model, ModelError
from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.schema import LONG_TEXT

SHOWN_ROWS = 20
TRANSCRIPT = LONG_TEXT | {"title"}
"""Columns that are never shown: bad rows go into Dagster's own storage."""

_CHECK = re.compile(r"(?P<kind>not_null|expect)\((?P<text>.+)\)", re.DOTALL)
ERROR, WARN = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN


class Promise(msgspec.Struct, frozen=True, kw_only=True):
    """One check of one model: rows for which `broken` is true should not exist."""

    name: str
    broken: str
    description: str
    severity: dg.AssetCheckSeverity
    never_null: str | None = None
    """The column of a not_null."""
    shown: tuple[str, ...]
    """Columns that say which row it is, and what is wrong with it."""


def promises(model: Model, columns: Set[str], binder: Connection) -> list[Promise]:
    """All checks of a model's header. Raises ModelError, naming the file."""
    found = [_grain(model)]
    for text in model.checks:
        match = _CHECK.fullmatch(text)
        if match is None:
            msg = (
                f"{model.path}: check {text!r} is neither not_null(...) nor expect(...)"
            )
            raise ModelError(msg)
        if match["kind"] == "expect":
            found.append(_expect(model, match["text"], columns))
        else:
            names = [name.strip() for name in match["text"].split(",")]
            found += [_not_null(model, name) for name in names]
    return [_bound(model, one, binder) for one in _named_once(found)]


def _grain(model: Model) -> Promise:
    return Promise(
        name="grain",
        broken="",
        description=f"One row per {', '.join(model.grain)}.",
        severity=ERROR,
        shown=model.grain,
    )


def _not_null(model: Model, column: str) -> Promise:
    return Promise(
        name=f"not_null_{column}",
        broken=f"{column} is null",
        never_null=column,
        description=f"{column} is never null.",
        severity=ERROR,
        shown=model.grain,
    )


def _expect(model: Model, condition: str, columns: Set[str]) -> Promise:
    words = dict.fromkeys(re.findall(r"\w+", condition))
    named = [word for word in words if word in columns]
    return Promise(
        name="_".join(("expect", *named[:1])),
        broken=f"({condition}) is not true",
        description=f"`{condition}` holds for every row.",
        severity=WARN,
        shown=tuple(dict.fromkeys((*model.grain, *named))),
    )


def _named_once(found: Sequence[Promise]) -> Iterator[Promise]:
    names: dict[str, int] = {}
    for one in found:
        names[one.name] = names.get(one.name, 0) + 1
        number = names[one.name]
        name = one.name if number == 1 else f"{one.name}_{number}"
        yield msgspec.structs.replace(one, name=name)


def _bound(model: Model, promise: Promise, binder: Connection) -> Promise:
    """The promise, if DuckDB understands it."""
    try:
        binder.execute(f"select {promise.broken or 'true'} from {model.name} limit 0")
    except duckdb.Error as error:
        msg = f"{model.path}: check {promise.name}: {error}"
        raise ModelError(msg) from error
    return promise


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """The number of rows, and of the rows that break each promise."""

    rows: int
    broken: dict[str, int]


def measure(connection: Connection, model: Model, asked: Sequence[Promise]) -> Measured:
    """Count everything in one pass over the model."""
    others = [one for one in asked if one.broken]
    counts = "".join(
        f", count(*) filter (where {one.broken}) as bad_{number}"
        for number, one in enumerate(others)
    )
    sums = "".join(
        f", coalesce(cast(sum(bad_{number}) as bigint), 0)"
        for number in range(len(others))
    )
    (found,) = connection.execute(
        f"""
        select
            coalesce(cast(sum(same_rows) as bigint), 0),
            coalesce(cast(sum(same_rows) filter (where same_rows > 1) as bigint), 0)
            {sums}
        from (
            select count(*) as same_rows {counts}
            from {model.name} group by {", ".join(model.grain)}
        )
        """
    ).fetchall()
    rows, doubled, *rest = found
    broken = dict(zip((one.name for one in others), rest, strict=True))
    return Measured(rows=rows, broken={"grain": doubled, **broken})


def results(
    connection: Connection, model: Model, asked: Sequence[Promise]
) -> tuple[int, list[dg.AssetCheckResult]]:
    """Check the model: its number of rows, and what to show of each check."""
    measured = measure(connection, model, asked)
    return measured.rows, [
        result(
            asset_key(model.name),
            one.name,
            measured.broken[one.name],
            _bad_rows(connection, model, one) if measured.broken[one.name] else None,
            severity=one.severity,
            rows=measured.rows,
        )
        for one in asked
    ]


def _bad_rows(
    connection: Connection, model: Model, promise: Promise
) -> dg.TableMetadataValue:
    shown = [name for name in promise.shown if name not in TRANSCRIPT]
    if promise.broken:
        query = f"select {', '.join(shown)} from {model.name} where {promise.broken}"
    else:
        query = (
            f"select {', '.join(shown)}, count(*) as rows from {model.name}"
            " group by all having count(*) > 1"
        )
    return table(connection, f"{query} limit {SHOWN_ROWS}")


def result(
    asset: dg.AssetKey,
    name: str,
    bad: int,
    bad_rows: dg.TableMetadataValue | None,
    *,
    severity: dg.AssetCheckSeverity,
    rows: int | None = None,
) -> dg.AssetCheckResult:
    """A check's result: how many rows are wrong, and some of them."""
    metadata: dict[str, Any] = {"bad_rows": bad}
    if rows is not None:
        metadata["rows_checked"] = rows
    if bad_rows is not None:
        metadata["examples"] = bad_rows
    return dg.AssetCheckResult(
        asset_key=asset,
        check_name=name,
        passed=not bad,
        severity=severity,
        metadata=metadata,
        description=f"{bad:,} bad rows" if bad else None,
    )


def table(connection: Connection, query: str) -> dg.TableMetadataValue:
    """The rows of a query as Dagster shows them, transcripts left out."""
    done = connection.execute(query)
    names = [column[0] for column in done.description or ()]
    return as_table(
        [dict(zip(names, row, strict=True)) for row in done.fetchall()], names
    )


def as_table(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> dg.TableMetadataValue:
    """Rows as a table in the metadata."""
    shown = [name for name in names if name not in TRANSCRIPT]
    records = [
        dg.TableRecord({name: _plain(row[name]) for name in shown}) for row in rows
    ]
    return dg.TableMetadataValue(
        records, dg.TableSchema([dg.TableColumn(name) for name in shown])
    )


def _plain(value: object) -> str | int | float | bool | None:
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC).replace(tzinfo=None)} UTC"
    return value if isinstance(value, str | int | float | None) else str(value)


def asset_key(table: str) -> dg.AssetKey:
    """The asset of a table: `core.usage` is core/usage."""
    return dg.AssetKey(table.split("."))
