"""The columns of every table, as Dagster shows them: type, meaning, origin.

The types of the models are DuckDB's own: all of them are bound in an empty database,
so that a broken model is found when Dagster starts, by name.
"""

import ast
import inspect
import json
from collections.abc import Set
from functools import cache

import dagster as dg
import duckdb

from agentlake.models.fact import Fact
from agentlake.models.table import FACTS, LINEAGE, columns
from agentlake.pipelines.orchestration.glossary import GLOSSARY, RAW
from agentlake.pipelines.orchestration.origins import origin
from agentlake.pipelines.transform.sql_models import (
    Model,
    ModelError,
    macros,
    models,
)
from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.schema import ensure

OWNERS = ["team:agentlake"]
"""Who made the tables: Dagster shows it, and lets one search by it."""

Types = dict[str, dict[str, str]]
"""The type of each column, by table and name."""


def bound(connection: Connection) -> Types:
    """Make all tables and models, empty, and give the types of their columns.

    Raises ModelError, naming the file, for a model that DuckDB does not accept.
    """
    ensure(connection, ["source"])
    connection.execute(macros())
    found = {
        f"staging.{fact.TABLE}": _types(connection, f"staging.{fact.TABLE}")
        for fact in FACTS
    }
    for model in models().values():
        try:
            connection.execute(
                f"create table {model.name} as {model.query} with no data"
            )
            found[model.name] = _types(connection, model.name)
        except duckdb.Error as error:
            msg = f"{model.path}: {error}"
            raise ModelError(msg) from error
        missing = {*model.grain, *model.key} - found[model.name].keys()
        if missing:
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


@cache
def raw_schema() -> dg.TableSchema:
    """The columns that every raw table has."""
    with duckdb.connect() as connection:
        ensure(connection, ["source"])
        types = _types(connection, "raw.source")
    return dg.TableSchema(
        [_column(name, kind, RAW.get(name)) for name, kind in types.items()]
    )


def staging_schema(fact: type[Fact], types: Types) -> dg.TableSchema:
    """The columns of one fact; their meaning is the docstring of the field."""
    required = {one.name for one in (*LINEAGE, *columns(fact)) if one.required}
    return dg.TableSchema(
        [
            _column(name, kind, _meaning(fact, name), nullable=name not in required)
            for name, kind in types[f"staging.{fact.TABLE}"].items()
        ]
    )


def model_schema(
    model: Model, types: Types, never_null: Set[str], parser: Connection
) -> dg.TableSchema:
    """The columns of one model; a column that is passed on says from where."""
    (text,) = parser.execute("select json_serialize_sql($1)", [model.query]).fetchall()[
        0
    ]
    tree = json.loads(text)
    names = {table: list(types.get(table, ())) for table in model.reads}
    shown = []
    for name, kind in types[model.name].items():
        found = origin(tree, name, names)
        meaning = GLOSSARY.get(name) or (found and _doc(*found[1:]))
        comes = None
        if found is not None:
            comes = f"{found[0] or 'From'} {found[1]}.{found[2]}."
        description = " ".join(filter(None, (meaning, comes)))
        shown.append(
            _column(
                name,
                kind,
                description or None,
                nullable=name not in never_null,
                is_key=model.grain == (name,),
            )
        )
    return dg.TableSchema(shown)


def _column(
    name: str,
    kind: str,
    description: str | None,
    *,
    nullable: bool = True,
    is_key: bool = False,
) -> dg.TableColumn:
    limits = dg.TableColumnConstraints(nullable=nullable, unique=is_key)
    return dg.TableColumn(name, kind, description, limits)


def _doc(table: str, column: str) -> str | None:
    """What a field's docstring says, for a column of staging."""
    for fact in FACTS:
        if table == f"staging.{fact.TABLE}":
            return _meaning(fact, column)
    return None


def _meaning(fact: type[Fact], name: str) -> str | None:
    return _docstrings(fact).get(name) or GLOSSARY.get(name)


@cache
def _docstrings(fact: type[Fact]) -> dict[str, str]:
    """The text below each field of the class: Python drops it, the source has it."""
    (body,) = ast.parse(inspect.getsource(fact)).body
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(doc))),
            ):
                found[name] = " ".join(doc.split())
    return found
