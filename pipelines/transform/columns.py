"""The columns of every table: type, meaning, where they come from.

The types of the models are DuckDB's own: all of them are bound in an empty database,
so that a broken model is found by its name before anything is loaded.
"""

import json
from collections.abc import Iterable, Set

import duckdb
import msgspec

from agentlake.models.dictionary.entry import Entry, completed
from agentlake.models.dictionary.lookup import (
    fact_entry,
    meta_entry,
    raw_entry,
    shared_entry,
)
from agentlake.models.fact import Fact
from agentlake.models.table import FACTS, stored_columns
from agentlake.pipelines.transform.origins import origin
from agentlake.pipelines.transform.sql_models import (
    Model,
    ModelError,
    macros,
    models,
)
from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.schema import META_TABLES, ensure

_SOURCE = "source"
"""Any source: all raw tables have the same columns."""

Types = dict[str, dict[str, str]]
"""The type of each column, by table and name."""


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """One column of a table of the warehouse."""

    name: str
    type: str
    entry: Entry | None
    """What it means; None where nobody says it."""
    origin: str | None = None
    """For a column that is passed on: "Sum of core.usage.input_tokens"."""
    nullable: bool = True
    is_key: bool = False

    @property
    def text(self) -> str:
        """All that is known of it, in words."""
        said = [self.entry.text] if self.entry else []
        if self.origin:
            said.append(f"{self.origin}.")
        return " ".join(said)


def bound(connection: Connection) -> Types:
    """Make all tables and models, empty, and give the types of their columns.

    Raises ModelError, naming the file, for a model that DuckDB does not accept, and
    for a header that names a column that there is not.
    """
    ensure(connection, [_SOURCE])
    connection.execute(macros())
    tables = [f"staging.{fact.TABLE}" for fact in FACTS]
    tables += [*META_TABLES, f"raw.{_SOURCE}"]
    found = {table: _types(connection, table) for table in tables}
    for model in models().values():
        try:
            connection.execute(
                f"create table {model.name} as {model.query} with no data"
            )
            found[model.name] = _types(connection, model.name)
        except duckdb.Error as error:
            msg = f"{model.path}: {error}"
            raise ModelError(msg) from error
        named = {*model.grain, *model.key, *model.columns}
        if missing := named - found[model.name].keys():
            msg = (
                f"{model.path}: no column {', '.join(sorted(missing))} (see its header)"
            )
            raise ModelError(msg)
    return found


def _types(connection: Connection, table: str) -> dict[str, str]:
    rows = connection.execute(f"describe {table}").fetchall()
    return {
        name: kind.lower().replace(" with time zone", "tz") for name, kind, *_ in rows
    }


def raw_columns(types: Types) -> list[Column]:
    """The columns that every raw table has."""
    return [
        Column(name=name, type=kind, entry=raw_entry(name))
        for name, kind in types[f"raw.{_SOURCE}"].items()
    ]


def meta_columns(table: str, types: Types) -> list[Column]:
    """The columns of a table of `meta`."""
    return [
        Column(name=name, type=kind, entry=meta_entry(table, name))
        for name, kind in types[table].items()
    ]


def fact_columns(fact: type[Fact], types: Types) -> list[Column]:
    """The columns of one fact in `staging`."""
    required = {one.name for one in stored_columns(fact) if one.required}
    return [
        Column(
            name=name,
            type=kind,
            entry=fact_entry(fact, name),
            nullable=name not in required,
        )
        for name, kind in types[f"staging.{fact.TABLE}"].items()
    ]


def model_columns(
    model: Model, types: Types, never_null: Set[str], parser: Connection
) -> list[Column]:
    """The columns of one model; a column that is passed on says from where."""
    (text,) = parser.execute("select json_serialize_sql($1)", [model.query]).fetchall()[
        0
    ]
    tree = json.loads(text)
    names = {table: list(types.get(table, ())) for table in model.reads}
    shown = []
    for name, kind in types[model.name].items():
        found = origin(tree, name, names)
        passed_on = None
        if found is not None:
            passed_on = f"{found[0] or 'From'} {found[1]}.{found[2]}"
        shown.append(
            Column(
                name=name,
                type=kind,
                entry=model_entry(model, name)
                or (_fact_entry(*found[1:]) if found else None),
                origin=passed_on,
                nullable=name not in never_null,
                is_key=model.grain == (name,),
            )
        )
    return shown


def model_entry(model: Model, name: str) -> Entry | None:
    """What a column of a model means: its header overrules the dictionary."""
    own = model.columns.get(name)
    return shared_entry(name) if own is None else completed(name, own)


def _fact_entry(table: str, column: str) -> Entry | None:
    """What a column of staging means."""
    for fact in FACTS:
        if table == f"staging.{fact.TABLE}":
            return fact_entry(fact, column)
    return None


def undescribed(table: str, found: Iterable[Column]) -> list[str]:
    """The columns of which nothing says what they mean, as `table.column`."""
    return [f"{table}.{one.name}" for one in found if one.entry is None]
