"""What the header of a model promises, and the dictionary of its columns.

    grain   a, b            no two rows have the same a and b
    checks  not_null(a, b)  neither is ever null
            expect(a >= 0)  true for every row

A column with a closed set of values in the dictionary has no other ones. All of them
are counted in one pass over the model.
"""

import re
from collections.abc import Iterator, Sequence, Set

import duckdb
import msgspec

from agentlake.pipelines.transform.checks.check import TRANSCRIPT, Check, Outcome
from agentlake.pipelines.transform.columns import model_entry
from agentlake.pipelines.transform.sql_models import Model, ModelError
from agentlake.pipelines.warehouse.connect import Connection

_CHECK = re.compile(r"(?P<kind>not_null|expect)\((?P<text>.+)\)", re.DOTALL)


def header_checks(model: Model, columns: Set[str], binder: Connection) -> list[Check]:
    """All checks of a model. Raises ModelError, naming the file."""
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
    found += [one for name in columns if (one := _values(model, name))]
    return [_bound(model, one, binder) for one in _named_once(found)]


def check_model(
    connection: Connection, model: Model, checks: Sequence[Check], since: int = 0
) -> list[Outcome]:
    """What came of these checks of the model.

    With `since`, of the rows that were made after that load, and those of the same
    grain.
    """
    others = [one for one in checks if one.condition]
    counts = "".join(
        f", count(*) filter (where {one.condition}) as bad_{number}"
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
            from {_rows_since(model, since)} group by {", ".join(model.grain)}
        )
        """
    ).fetchall()
    rows, doubled, *rest = found
    bad = dict(zip((one.name for one in others), rest, strict=True))
    return [
        Outcome(check=one, bad=bad.get(one.name, doubled), rows=rows) for one in checks
    ]


def _rows_since(model: Model, since: int) -> str:
    """All rows, or those whose grain a load after `since` made, as after `from`."""
    if not since:
        return model.name
    same = " and ".join(
        f"made.{name} is not distinct from {model.name}.{name}" for name in model.grain
    )
    return f"""{model.name} semi join (
        select {", ".join(model.grain)} from {model.name} where load_id > {since}
    ) as made on {same}"""


def _grain(model: Model) -> Check:
    names = ", ".join(model.grain)
    return Check(
        table=model.name,
        name="grain",
        description=f"One row per {names}.",
        bad_rows=f"select {names}, count(*) as rows from {model.name}"
        " group by all having count(*) > 1",
    )


def _not_null(model: Model, column: str) -> Check:
    check = _of_rows(
        model, f"not_null_{column}", f"{column} is never null.", f"{column} is null"
    )
    return msgspec.structs.replace(check, never_null=column)


def _expect(model: Model, condition: str, columns: Set[str]) -> Check:
    words = dict.fromkeys(re.findall(r"\w+", condition))
    named = [word for word in words if word in columns]
    check = _of_rows(
        model,
        "_".join(("expect", *named[:1])),
        f"`{condition}` holds for every row.",
        f"({condition}) is not true",
        *named,
    )
    return msgspec.structs.replace(check, severity="warn")


def _values(model: Model, column: str) -> Check | None:
    """That the column has no other values than the dictionary says."""
    entry = model_entry(model, column)
    if entry is None or not entry.values:
        return None
    allowed = ", ".join(f"'{value}'" for value in entry.values)
    check = _of_rows(
        model,
        f"values_{column}",
        f"{column} is one of {', '.join(entry.values)}, or null.",
        f"{column} not in ({allowed})",
        column,
    )
    return msgspec.structs.replace(check, severity="warn")


def _of_rows(
    model: Model, name: str, description: str, condition: str, *named: str
) -> Check:
    """A check of each row by itself; bad ones are shown by the grain and `named`."""
    shown = [it for it in (*model.grain, *named) if it not in TRANSCRIPT]
    columns = ", ".join(dict.fromkeys(shown))
    return Check(
        table=model.name,
        name=name,
        description=description,
        bad_rows=f"select {columns} from {model.name} where {condition}",
        condition=condition,
    )


def _named_once(found: Sequence[Check]) -> Iterator[Check]:
    names: dict[str, int] = {}
    for one in found:
        names[one.name] = names.get(one.name, 0) + 1
        number = names[one.name]
        name = one.name if number == 1 else f"{one.name}_{number}"
        yield msgspec.structs.replace(one, name=name)


def _bound(model: Model, check: Check, binder: Connection) -> Check:
    """The check, if DuckDB understands it."""
    try:
        binder.execute(f"from ({check.bad_rows}) limit 0")
    except duckdb.Error as error:
        msg = f"{model.path}: check {check.name}: {error}"
        raise ModelError(msg) from error
    return check
