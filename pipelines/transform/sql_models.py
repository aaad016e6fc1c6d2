"""The SQL files as models: what each is called, says of itself and reads.

A model is one file with one query; its layer and its file's name are its name:
`sql/core/usage/usage_copies.sql` is `core.usage_copies`. The folders between sort by
theme and mean nothing else. What a model reads is parsed from its query by DuckDB.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from agentlake.models.dictionary.entry import Entry
from agentlake.pipelines.warehouse.connect import Connection, transaction
from agentlake.pipelines.warehouse.meta import store, stored

SQL = Path(__file__).resolve().parents[2] / "sql"
_HEADER = re.compile(r"\A/\*\n(?P<text>.*?)\n\*/\n(?P<query>.*)\Z", re.DOTALL)
_FIELD = re.compile(
    r"^(?P<name>grain|key|base|texts|checks|columns|only|repriced|why)\s+(?P<text>.*)$"
)
_COLUMN = re.compile(r"(?P<name>\w+)(?: \((?P<values>[^)]*)\))? (?P<text>\S.*)")
_QUESTION = re.compile(
    r"^/\*\n(?P<name>\w+)\([^)]*\): (?P<text>.*?)\n\n", re.DOTALL | re.MULTILINE
)
LAYERS = ("core", "marts")
LINEAGE = ("load_id bigint",)
"""What a refresh adds to every table: the load after which a row was made."""
_REMEMBERED = "models"  # in meta.settings
QUOTES, RECORDS = "meta.price_quotes", "core._usage_records"
MADE_FROM = {QUOTES: RECORDS, "meta.price_offers": RECORDS}
"""Tables that Python makes, and the model from which it makes them."""


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """One SQL file.

    `grain` are the columns that make a row unique. `key` are the two columns (source
    and session) by which its rows are replaced: all rows of a session are made
    again together. A model without a key is a view.
    `columns` are the entries by which the model overrules the dictionary of columns.
    `only` is the part of staging without which the model has no rows.
    `base` is the model that has its rows without their texts: only rows of it that are
    other than what is stored are made again. `texts` are the tables whose long texts
    the query reads. `only` is the part of staging without which the model has no rows.
    `repriced` is the stored model from which it is made when only prices changed.
    """

    name: str
    path: str
    description: str
    grain: tuple[str, ...]
    key: tuple[str, ...]
    checks: tuple[str, ...]
    columns: dict[str, Entry]
    base: str
    texts: tuple[str, ...]
    only: str
    repriced: str
    why: str
    query: str
    reads: tuple[str, ...]

    @property
    def is_view(self) -> bool:
        """Whether it is computed when somebody asks."""
        return not self.key


class ModelError(Exception):
    """A SQL file that breaks a rule of the project; the message names it."""


@cache
def macros() -> str:
    """The functions that models use, as statements that create them."""
    return (SQL / "macros.sql").read_text()


@cache
def questions() -> str:
    """Table macros for people, as statements that create them, each with its comment.

    No model uses them, so they may change without any model being made again.
    """
    text = (SQL / "questions.sql").read_text()
    comments = [
        f"comment on macro table main.{found['name']} is"
        f" '{' '.join(found['text'].split()).replace(chr(39), chr(39) * 2)}';"
        for found in _QUESTION.finditer(text)
    ]
    return "\n".join([text, *comments])


_models: dict[str, Model] = {}


def models() -> dict[str, Model]:
    """All models by name, each after those that it reads."""
    if not _models:
        parser = duckdb.connect()
        _models.update(_in_order({model.name: model for model in _read_all(parser)}))
        parser.close()
    return _models


def recall(connection: Connection) -> None:
    """Take the models from the warehouse, if it knows those of this very SQL.

    Parsing all files takes longer than a refresh after one new line; so a writer
    keeps what it found.
    """
    if _models:
        return
    sql = "\0".join(f"{path}\0{path.read_text()}" for _, path in _files())
    sql += repr(Model.__struct_fields__)  # another version wrote other ones
    digest = hashlib.sha256(sql.encode()).hexdigest()
    known, _, text = (stored(connection, _REMEMBERED) or "").partition(" ")
    if known == digest:
        found = msgspec.json.decode(text, type=list[Model])
        _models.update({model.name: model for model in found})
        return
    text = msgspec.json.encode(list(models().values())).decode()
    with transaction(connection):
        store(connection, _REMEMBERED, f"{digest} {text}")


def _in_order(found: dict[str, Model]) -> dict[str, Model]:
    graph = {
        name: [
            other
            for table in model.reads
            if (other := MADE_FROM.get(table, table)) in found
        ]
        for name, model in found.items()
    }
    return {name: found[name] for name in TopologicalSorter(graph).static_order()}


def _files() -> Iterator[tuple[str, Path]]:
    """Every model's name and file, sorted by name. Raises ModelError for two of one."""
    found: dict[str, Path] = {}
    for layer in LAYERS:
        for path in (SQL / layer).rglob("*.sql"):
            name = f"{layer}.{path.stem}"
            if name in found:
                msg = f"{path} and {found[name]}: two files for {name}. Rename one."
                raise ModelError(msg)
            found[name] = path
    yield from sorted(found.items())


def _read_all(parser: duckdb.DuckDBPyConnection) -> Iterator[Model]:
    for name, path in _files():
        yield read_model(name, path, parser)


def read_model(name: str, path: Path, parser: duckdb.DuckDBPyConnection) -> Model:
    """Read one file. Raises ModelError when its header or its query is wrong."""
    found = _HEADER.match(path.read_text())
    if found is None:
        msg = f"{path}: does not start with a /* header */ of its own lines"
        raise ModelError(msg)
    description, fields = _header(found["text"])
    if "grain" not in fields:
        msg = f"{path}: header has no 'grain' line. Add one, e.g. grain   source, id"
        raise ModelError(msg)
    return Model(
        name=name,
        path=str(path),
        description=description,
        grain=_names(fields["grain"]),
        key=_names(fields.get("key", "")),
        checks=tuple(
            _one_line(part)
            for part in fields.get("checks", "").split(";")
            if part.strip()
        ),
        columns=_columns(fields.get("columns", ""), path),
        only=_one_line(fields.get("only", "")),
        repriced=fields.get("repriced", ""),
        why=_one_line(fields.get("why", "")),
        base=fields.get("base", ""),
        texts=_names(fields.get("texts", "")),
        query=found["query"].strip(),
        reads=tables_read(found["query"], path, parser),
    )


def _header(text: str) -> tuple[str, dict[str, str]]:
    """The description, and the fields; a field goes on in indented lines."""
    description: list[str] = []
    fields: dict[str, str] = {}
    current = None
    for line in text.splitlines():
        if field := _FIELD.match(line):
            current = field["name"]
            fields[current] = field["text"].strip()
        elif current is not None and line.startswith(" "):
            fields[current] += "\n" + line.removeprefix(" " * 8).rstrip()
        elif current is None:
            description.append(line)
    return "\n".join(description).strip(), fields


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _columns(text: str, path: Path) -> dict[str, Entry]:
    """What the header says of columns, each as `name (value | value)  What it is.`.

    An entry goes on in lines that are indented further than its name.
    """
    found: dict[str, Entry] = {}
    for entry in re.split(r"\n(?! )", text) if text else ():
        match = _COLUMN.fullmatch(_one_line(entry))
        if match is None:
            msg = f"{path}: columns: {entry!r} is not `name (value | ...)  What it is.`"
            raise ModelError(msg)
        values = [it.strip() for it in (match["values"] or "").split("|")]
        pairs = [it.partition(": ") for it in values if it]
        meanings = {value: meaning for value, _, meaning in pairs}
        found[match["name"]] = Entry(match["text"], values=meanings)
    return found


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def tables_read(
    query: str, path: Path, parser: duckdb.DuckDBPyConnection
) -> tuple[str, ...]:
    """The tables that a query reads, sorted. Raises ModelError if it does not parse."""
    (text,) = parser.execute("select json_serialize_sql($1)", [query]).fetchall()[0]
    tree = json.loads(text)
    if tree.get("error"):
        msg = f"{path}: {tree.get('error_message')}"
        raise ModelError(msg)
    return tuple(sorted(set(_tables(tree))))


def _tables(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if node.get("type") == "BASE_TABLE" and node.get("schema_name"):
            yield f"{node['schema_name']}.{node['table_name']}"
        for value in node.values():
            yield from _tables(value)
    elif isinstance(node, list):
        for value in node:
            yield from _tables(value)


@cache
def fingerprint(name: str) -> str:
    """A digest of everything that a model's rows depend on but the data."""
    model = models()[name]
    parts = [macros(), model.query, ",".join(model.key), *LINEAGE]
    parts += [fingerprint(other) for other in model.reads if other in models()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
