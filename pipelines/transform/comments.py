"""What tables and columns mean, written into the warehouse as comments.

Every client shows them: `agentlake sql "describe ..."`, the DuckDB CLI, BI tools.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from agentlake.models.dictionary.entry import Entry
from agentlake.models.dictionary.lookup import fact_entry, meta_entry, raw_entry
from agentlake.models.table import FACTS, stored_columns
from agentlake.pipelines.literal import literal
from agentlake.pipelines.transform.columns import model_entry
from agentlake.pipelines.transform.sql_models import SQL, Model, models
from agentlake.pipelines.warehouse.connect import Connection, transaction
from agentlake.pipelines.warehouse.meta import store, stored

MODELS_DIR = SQL.parent / "models"
_COMMENTED = "comments"  # in meta.settings: a digest of all that was written


@cache
def digest() -> str:
    """A digest of every file that says what a column means."""
    found = hashlib.sha256()
    for folder, pattern in ((SQL, "*.sql"), (MODELS_DIR, "*.py")):
        for path in sorted(folder.rglob(pattern)):
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


def comment_on_model(connection: Connection, model: Model) -> None:
    """Comment a model's table or view, which has just been made."""
    names = [
        name for name, *_ in connection.execute(f"describe {model.name}").fetchall()
    ]
    connection.execute("\n".join(_of_model(model, names)))


def comment_on_everything(connection: Connection) -> None:
    """Comment all tables again if a meaning changed since they were commented."""
    text = f"{digest()} {stored(connection, 'schema')}"
    if stored(connection, _COMMENTED) == text:
        return
    with transaction(connection):
        tables = _columns(connection)
        statements = list(_of_loaded(tables))
        for model in models().values():
            statements += _of_model(model, tables[model.name])
        connection.execute("\n".join(statements))
        store(connection, _COMMENTED, text)


def _of_model(model: Model, names: Sequence[str]) -> Iterator[str]:
    kind = "view" if model.is_view else "table"
    text = literal(" ".join(model.description.split()))
    yield f"comment on {kind} {model.name} is {text};"
    yield from _on_columns(
        model.name, {name: model_entry(model, name) for name in names}
    )


def _of_loaded(tables: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Comments on the columns of staging, raw and meta."""
    for fact in FACTS:
        names = [one.name for one in stored_columns(fact)]
        yield from _on_columns(
            f"staging.{fact.TABLE}", {name: fact_entry(fact, name) for name in names}
        )
    for table, found in tables.items():
        schema, _, source = table.partition(".")
        if schema == "raw":
            yield from _on_columns(
                f'raw."{source}"', {name: raw_entry(name) for name in found}
            )
        elif schema == "meta":
            yield from _on_columns(
                table, {name: meta_entry(table, name) for name in found}
            )


def _on_columns(table: str, entries: Mapping[str, Entry | None]) -> Iterator[str]:
    for name, entry in entries.items():
        if entry is not None:
            yield f'comment on column {table}."{name}" is {literal(entry.text)};'


def _columns(connection: Connection) -> dict[str, list[str]]:
    """The columns of every table and view of the warehouse."""
    rows = connection.execute(
        """
        select schema_name || '.' || table_name, list(column_name order by column_index)
        from duckdb_columns()
        where database_name = current_database() and not internal
        group by all
        """
    ).fetchall()
    return dict(rows)
