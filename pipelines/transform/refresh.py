"""Bring the SQL models up to date with staging, at the cost of what changed.

A model's table says, by `meta.model_state`, up to which load it is right. What came
since touches some sessions (`groups`); their rows are made again from inputs that are
narrowed to those sessions, and those that are other than before are replaced, in one
transaction. A model whose SQL changed, or the SQL of what it reads, is made whole.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence, Set
from typing import Any

import msgspec

from agentlake.pipelines.transform import groups
from agentlake.pipelines.transform.comments import (
    comment_on_everything,
    comment_on_model,
)
from agentlake.pipelines.transform.narrow import Narrow
from agentlake.pipelines.transform.rows import Change
from agentlake.pipelines.transform.sql_models import (
    Model,
    fingerprint,
    macros,
    models,
    questions,
    recall,
)
from agentlake.pipelines.warehouse.connect import Connection, transaction
from agentlake.pipelines.warehouse.meta import last_load_id, store, stored
from agentlake.pipelines.warehouse.schema import LONG_TEXT

GROUPS = "meta.session_groups"
QUOTES = "meta.price_quotes"
_ROWS_AT_ONCE = 500_000
"""Facts from which a portion of a model that is made whole is made, at most."""
_QUESTIONS = "questions"  # in meta.settings: a digest of the macros that are made


class Refreshed(msgspec.Struct, frozen=True, kw_only=True):
    """What a refresh did to one model."""

    model: str
    how: str
    """full, touched, view, or current when there was nothing to do."""
    sessions: int | None = None
    rows: int = 0
    """Rows written."""
    replaced: int = 0
    """Rows of the touched sessions that made room for them."""
    seconds: float = 0.0


Prepare = Callable[[Connection], None]
"""Bring `meta.price_quotes`, which no SQL makes, up to date."""


def refresh(
    connection: Connection,
    names: Iterable[str] | None = None,
    *,
    prepare_prices: Prepare = lambda _: None,
) -> list[Refreshed]:
    """Refresh these models, or all, in the order in which they read each other.

    The views that they read are brought up to date as well.
    `prepare_prices` runs before the first model that reads `meta.price_quotes`.
    """
    recall(connection)
    run = _Refresh(connection, prepare_prices)
    chosen = models().keys() if names is None else _with_views(names)
    try:
        done = [run.one(model) for model in models().values() if model.name in chosen]
        run.make_questions()
        if models().keys() <= run.made:
            comment_on_everything(connection)
    finally:
        run.close()
    return done


def _with_views(names: Iterable[str]) -> set[str]:
    """These models and the views between them and tables: no table of old SQL."""
    chosen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        chosen.add(name)
        near = [models()[it] for it in models()[name].reads if it in models()]
        waiting += [it.name for it in near if it.is_view and it.name not in chosen]
    return chosen


class _Refresh:
    """One pass; what is the same for several models is worked out once."""

    def __init__(self, connection: Connection, prepare_prices: Prepare) -> None:
        self._connection = connection
        self._prepare_prices: Prepare | None = prepare_prices
        self._lake = _value(connection, "select current_database()")
        self._head = last_load_id(connection)
        rows = connection.execute(
            "select model, fingerprint, load_id from meta.model_state"
        ).fetchall()
        self._state = {model: (text, load_id) for model, text, load_id in rows}
        self._read_price_state()
        self._touched: dict[int, Sequence[groups.Session]] = {}
        self._portions: Sequence[Sequence[groups.Session] | None] | None = None
        self._narrow: Narrow | None = None
        self._remade: set[str] = set()

    def close(self) -> None:
        if self._narrow is not None:
            self._narrow.close()

    def one(self, model: Model) -> Refreshed:
        start = time.perf_counter()
        if QUOTES in model.reads:
            self._update_prices()
        how, sessions, rows, replaced = self._refreshed(model)
        return Refreshed(
            model=model.name,
            how=how,
            sessions=sessions,
            rows=rows,
            replaced=replaced,
            seconds=time.perf_counter() - start,
        )

    @property
    def made(self) -> Set[str]:
        """The models that the warehouse has, up to date or not."""
        return self._state.keys()

    def make_questions(self) -> None:
        """Make the table macros, once there is all that they may read."""
        digest = hashlib.sha256(questions().encode()).hexdigest()[:16]
        is_made = stored(self._connection, _QUESTIONS) == digest
        if not is_made and models().keys() <= self.made:
            with transaction(self._connection):
                self._connection.execute(questions())
                store(self._connection, _QUESTIONS, digest)

    def _update_prices(self) -> None:
        if self._prepare_prices is not None:
            self._prepare_prices(self._connection)
            self._prepare_prices = None
            self._read_price_state()

    def _read_price_state(self) -> None:
        rows = self._connection.execute(
            "select fingerprint from meta.model_state where model = $1", [QUOTES]
        ).fetchall()
        self._prices: str = rows[0][0] if rows else ""

    def _fingerprint(self, model: Model) -> str:
        """What the model's rows depend on but the data: its SQL, and the prices."""
        text = fingerprint(model.name)
        return f"{text}, {self._prices}" if "core.prices" in model.reads else text

    def _refreshed(self, model: Model) -> tuple[str, int | None, int, int]:
        text, since = self._state.get(model.name, ("", -1))
        same = text == self._fingerprint(model)
        if model.is_view:
            if not same:
                self._make_view(model)
            return ("current" if same else "view"), None, 0, 0
        if not same or self._remade.intersection(model.reads):
            self._remade.add(model.name)
            self._update_groups()  # here too: the next load should find them made
            return "full", None, self._make_whole(model), 0
        if since == self._head:
            return "current", None, 0, 0
        sessions = self._touched_since(since)
        if not sessions:
            self._save_state(model)
            return "current", 0, 0, 0
        return "touched", len(sessions), *self._make_touched(model, since)

    def _touched_since(self, since: int) -> Sequence[groups.Session]:
        self._update_groups()
        if since not in self._touched:
            self._touched[since] = groups.touched(self._connection, since)
        return self._touched[since]

    def _update_groups(self) -> None:
        _, since = self._state.get(GROUPS, ("", 0))
        if since < self._head:
            with transaction(self._connection):
                if since == 0:
                    groups.reset(self._connection)
                groups.update(self._connection, since)
                self._write_state(GROUPS, "")

    def _make_view(self, model: Model) -> None:
        with transaction(self._connection):
            self._connection.execute(macros())
            self._drop(model, "table")
            self._connection.execute(
                f"create or replace view {model.name} as {model.query}"
            )
            comment_on_model(self._connection, model)
            self._write_state(model.name, self._fingerprint(model))
        if self._narrow is not None:
            self._narrow.forget_shapes()

    def _make_whole(self, model: Model) -> int:
        """Make the table anew beside the old one, in portions of sessions."""
        schema, name = model.name.split(".")
        beside = f"{schema}._new_{name}"
        with transaction(self._connection):
            self._connection.execute(macros())
            self._connection.execute(f"drop table if exists {beside}")
            self._connection.execute(_create_table(self._connection, model, beside))
        rows = 0
        for sessions in self._all_portions():
            change = self._change(model, sessions, beside)
            rows += change.rows
            with self._inputs.names(), transaction(self._connection):
                change.apply()
        with transaction(self._connection):
            self._drop(model, "view")
            self._drop(model, "table")
            self._connection.execute(f"alter table {beside} rename to {name}")
            comment_on_model(self._connection, model)
            self._write_state(model.name, self._fingerprint(model))
        return rows

    def _make_touched(self, model: Model, since: int) -> tuple[int, int]:
        """Renew the rows of the touched sessions; the inputs are narrowed to them."""
        change = self._change(model, self._touched[since], model.name)
        with self._inputs.names(), transaction(self._connection):
            change.apply()
            self._write_state(model.name, self._fingerprint(model))
        return change.rows, change.replaced

    def _change(
        self, model: Model, sessions: Sequence[groups.Session] | None, table: str
    ) -> Change:
        self._inputs.to(sessions)
        return Change(self._connection, self._inputs, model, f'"{self._lake}".{table}')

    @property
    def _inputs(self) -> Narrow:
        if self._narrow is None:
            self._narrow = Narrow(self._connection, self._lake)
        return self._narrow

    def _all_portions(self) -> Sequence[Sequence[groups.Session] | None]:
        if self._portions is None:
            self._portions = groups.portions(self._connection, _ROWS_AT_ONCE)
        return self._portions

    def _drop(self, model: Model, kind: str) -> None:
        """Drop what earlier SQL made under this name, if it is of that kind."""
        found = self._connection.execute(
            "select 1 from information_schema.tables where table_catalog = $1"
            " and table_schema || '.' || table_name = $2 and table_type = $3",
            [self._lake, model.name, "VIEW" if kind == "view" else "BASE TABLE"],
        ).fetchall()
        if found:
            self._connection.execute(f"drop {kind} {model.name}")

    def _save_state(self, model: Model) -> None:
        with transaction(self._connection):
            self._write_state(model.name, self._fingerprint(model))

    def _write_state(self, name: str, text: str) -> None:
        table = f'"{self._lake}".meta.model_state'
        self._connection.execute(f"delete from {table} where model = $1", [name])
        self._connection.execute(
            f"insert into {table} values ($1, $2, $3, now())",
            [name, text, self._head],
        )
        self._state[name] = (text, self._head)


def _create_table(connection: Connection, model: Model, table: str) -> str:
    """The statement for an empty table of the model: the query's own column types.

    `create table as` would lose the compression of long text.
    """
    described = connection.execute(f"describe {model.query}").fetchall()
    columns = [
        f'"{name}" {kind}{" using compression zstd" if name in LONG_TEXT else ""}'
        for name, kind, *_ in described
    ]
    return f"create table {table} ({', '.join(columns)})"


def _value(connection: Connection, query: str) -> Any:
    return connection.execute(query).fetchall()[0][0]
