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

from agentlake.pipelines.transform import groups, tables
from agentlake.pipelines.transform.comments import (
    comment_on_everything,
    comment_on_model,
)
from agentlake.pipelines.transform.narrow import Narrow
from agentlake.pipelines.transform.reprice import (
    fill_again,
    is_same_sql,
    record_changes,
)
from agentlake.pipelines.transform.rows import Change, note_load
from agentlake.pipelines.transform.sql_models import (
    MADE_FROM,
    QUOTES,
    RECORDS,
    Model,
    fingerprint,
    macros,
    models,
    questions,
    recall,
)
from agentlake.pipelines.warehouse.connect import Connection, transaction
from agentlake.pipelines.warehouse.meta import last_load_id, store, stored

GROUPS = "meta.session_groups"
_ROWS_AT_ONCE = 500_000
"""Facts from which a portion of a model that is made whole is made, at most."""
_QUESTIONS = "questions"  # in meta.settings: a digest of the macros that are made


class Refreshed(msgspec.Struct, frozen=True, kw_only=True):
    """What a refresh did to one model."""

    model: str
    how: str
    """full, touched, repriced, view, or current when there was nothing to do."""
    sessions: int | None = None
    rows: int = 0
    """Rows written."""
    replaced: int = 0
    """Rows of the touched sessions that made room for them."""
    seconds: float = 0.0


UsedSince = Callable[[int], str]
"""Usage records of what a load after this one touched (-1: all), as after `from`."""

Prepare = Callable[[Connection, UsedSince], None]
"""Bring `meta.price_quotes`, which no SQL makes, up to date with the usage records."""


def refresh(
    connection: Connection,
    names: Iterable[str] | None = None,
    *,
    prepare_prices: Prepare = lambda _, __: None,
) -> list[Refreshed]:
    """Refresh these models, or all, in the order in which they read each other.

    The views that they read are brought up to date as well.
    `prepare_prices` runs before the first model that reads what it makes.
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
        self._repriced: set[str] = set()

    def close(self) -> None:
        if self._narrow is not None:
            self._narrow.close()

    def one(self, model: Model) -> Refreshed:
        start = time.perf_counter()
        if MADE_FROM.keys() & set(model.reads):
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
        if self._prepare_prices is not None and RECORDS in self._state:
            self._prepare_prices(self._connection, self._used_since)
            self._prepare_prices = None
            self._read_price_state()

    def _used_since(self, load_id: int) -> str:
        self._inputs.to(self._touched_since(load_id) if load_id >= 0 else None)
        return f"{RECORDS} where {self._inputs.condition(models()[RECORDS].key)}"

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
            if self._only_prices_changed(model, text):
                self._repriced.add(model.name)
            if model.name in self._repriced and model.repriced:
                rows = self._reprice(model, since)
                if since == self._head:
                    return "repriced", None, rows, 0
                return self._brought_up(model, since)
            self._remade.add(model.name)
            self._update_groups()  # here too: the next load should find them made
            return "full", None, self._make_whole(model), 0
        if since == self._head:
            return "current", None, 0, 0
        return self._brought_up(model, since)

    def _brought_up(self, model: Model, since: int) -> tuple[str, int | None, int, int]:
        """Renew what came since."""
        sessions = self._touched_since(since)
        if not sessions:
            self._save_state(model)
            return "current", 0, 0, 0
        return "touched", len(sessions), *self._make_touched(model, since)

    def _only_prices_changed(self, model: Model, text: str) -> bool:
        """Whether the SQL of the model, and of all that it reads, is what it was."""
        other = self._remade - self._repriced
        return is_same_sql(model, text) and not other.intersection(model.reads)

    def _reprice(self, model: Model, since: int) -> int:
        """Cost again what it has; it stays as far as it was."""
        beside = tables.beside(model)
        with transaction(self._connection):
            self._connection.execute(macros())
            self._connection.execute(f"drop table if exists {beside}")
            self._connection.execute(tables.creation(self._connection, model, beside))
            rows = fill_again(self._connection, model, beside, self._head)
            note_load(self._connection, self._lake, beside, model.key, self._head)
            self._put_in_place(model, beside)
            self._write_state(model.name, self._fingerprint(model), since)
        return rows

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
            tables.drop(self._connection, model, "table")
            self._connection.execute(
                f"create or replace view {model.name} as {model.query}"
            )
            comment_on_model(self._connection, model)
            self._write_state(model.name, self._fingerprint(model))
        if self._narrow is not None:
            self._narrow.forget_shapes()

    def _make_whole(self, model: Model) -> int:
        """Make the table anew beside the old one, in portions of sessions."""
        beside = tables.beside(model)
        with transaction(self._connection):
            self._connection.execute(macros())
            self._connection.execute(f"drop table if exists {beside}")
            self._connection.execute(tables.creation(self._connection, model, beside))
        rows = 0
        for sessions in self._all_portions():
            change = self._change(model, sessions, beside)
            rows += change.rows
            with self._inputs.names(), transaction(self._connection):
                change.apply(self._lake, self._head)
        with transaction(self._connection):
            self._put_in_place(model, beside)
            self._write_state(model.name, self._fingerprint(model))
            if model.name == RECORDS:
                self._ask_all_prices_again()
        return rows

    def _put_in_place(self, model: Model, beside: str) -> None:
        """Let a table that was made beside take the place of the old one."""
        if model.repriced and tables.is_there(self._connection, model, "table"):
            record_changes(self._connection, model.name, beside)
        tables.put_in_place(self._connection, model, beside)
        comment_on_model(self._connection, model)

    def _ask_all_prices_again(self) -> None:
        """Old rows may name other models; kept, in case this ends before the prices."""
        self._connection.execute(
            "update meta.model_state set load_id = -1 where model = $1", [QUOTES]
        )

    def _make_touched(self, model: Model, since: int) -> tuple[int, int]:
        """Renew the rows of the touched sessions; the inputs are narrowed to them."""
        change = self._change(model, self._touched[since], model.name)
        with self._inputs.names(), transaction(self._connection):
            change.apply(self._lake, self._head)
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
            self._narrow = Narrow(self._connection, self._lake, self._head)
        return self._narrow

    def _all_portions(self) -> Sequence[Sequence[groups.Session] | None]:
        if self._portions is None:
            self._portions = groups.portions(self._connection, _ROWS_AT_ONCE)
        return self._portions

    def _save_state(self, model: Model) -> None:
        with transaction(self._connection):
            self._write_state(model.name, self._fingerprint(model))

    def _write_state(self, name: str, text: str, load_id: int | None = None) -> None:
        upto = self._head if load_id is None else load_id
        table = f'"{self._lake}".meta.model_state'
        self._connection.execute(f"delete from {table} where model = $1", [name])
        self._connection.execute(
            f"insert into {table} values ($1, $2, $3, now())",
            [name, text, upto],
        )
        self._state[name] = (text, upto)


def _value(connection: Connection, query: str) -> Any:
    return connection.execute(query).fetchall()[0][0]
