"""The inputs of the models, narrowed to some sessions.

They stand in a database in memory under the names that they have in the warehouse: a
model's query reads `staging.usage` and gets only what it needs, its text unchanged.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from agentlake.pipelines.literal import literal
from agentlake.pipelines.transform.groups import Session
from agentlake.pipelines.transform.sql_models import Model, macros, models
from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.schema import long_texts

NAME = "narrow"
_MOST_LITERALS = 500
_FEW = 50


class Narrow:
    """A second set of the same tables; what is made once serves all models."""

    def __init__(self, connection: Connection, lake: str, head: int) -> None:
        self._connection = connection
        self._lake = lake
        self._head = head
        self._sessions: Sequence[Session] | None = ()
        self._made: set[str] = set()
        self._with_texts: set[str] = set()
        self._loads: str | None = None
        self._parts: dict[str, bool] = {}
        self._shapes: dict[str, str] = {}
        connection.execute(f"attach ':memory:' as {NAME}")
        connection.execute(f"create schema {NAME}.meta")
        connection.execute(
            f"create or replace view {NAME}.meta.settings as "
            f'from "{lake}".meta.settings'  # a macro reads it
        )
        with self.names():
            connection.execute(macros())

    @contextmanager
    def names(self) -> Iterator[None]:
        """Inside, names without a database mean the narrowed tables."""
        self._connection.execute(f"use {NAME}")
        try:
            yield
        finally:
            self._connection.execute(f'use "{self._lake}"')

    def to(self, sessions: Sequence[Session] | None) -> None:
        """Narrow to these sessions from now on; to all of them if None."""
        if sessions is not None and sessions is self._sessions:
            return
        self._sessions = sessions
        self._made = set()
        self._with_texts = set()
        self._loads = None
        self._parts = {}
        for schema in ("staging", "core"):
            self._connection.execute(f"drop schema if exists {NAME}.{schema} cascade")
            self._connection.execute(f"create schema {NAME}.{schema}")
        # Handing out small work to several threads costs more than doing it.
        threads = "set threads = 1" if self.is_few() else "reset threads"
        self._connection.execute(threads)
        if sessions is not None and len(sessions) > _MOST_LITERALS:
            self._connection.execute(
                f"create or replace table {NAME}.main.touched as "
                "select unnest($sources) as source, unnest($sessions) as session_id",
                {
                    "sources": [source for source, _ in sessions],
                    "sessions": [session for _, session in sessions],
                },
            )

    def forget_shapes(self) -> None:
        """A view was made, so it may have other columns than before."""
        self._shapes = {}

    def close(self) -> None:
        """Give back the memory and the threads: a load may go on after a refresh."""
        self._connection.execute(f"detach {NAME}")
        self._connection.execute("reset threads")

    def is_few(self) -> bool:
        """Whether the sessions are so few that what is asked of them is small."""
        return self._sessions is not None and len(self._sessions) <= _FEW

    def condition(self, key: Sequence[str]) -> str:
        """Whether a row belongs to one of the sessions; literals when they are few.

        Then the loads after which rows of theirs were written come first: DuckDB leaves
        out all parts of a table that others wrote, without reading them.
        """
        condition = self._condition(key)
        if not self.is_few():
            return condition
        if self._loads is None:
            rows = self._connection.execute(
                f'select distinct load_id from "{self._lake}".meta.session_loads'
                f" where {self._condition(('source', 'session_id'))}"
            ).fetchall()
            # After the last one this very refresh makes rows.
            loads = {load_id for (load_id,) in rows} | {self._head}
            self._loads = ", ".join(map(str, sorted(loads)))
        return f"load_id in ({self._loads}) and ({condition})"

    def _condition(self, key: Sequence[str]) -> str:
        sessions = self._sessions
        if sessions is None:
            return "true"
        if len(sessions) > _MOST_LITERALS:
            source, session = key
            return (
                f"({source}, {session}) in "
                f"(select (source, session_id) from {NAME}.main.touched)"
            )
        return _of_sessions(key, sessions)

    def make_inputs(self, model: Model) -> None:
        """Make what the model reads, and what that reads, unless it is made."""
        for table in model.reads:
            if table in model.texts:
                self._give_texts(table)
            if table in self._made:
                continue
            read = models().get(table)
            if read is not None and read.is_view:
                if not self.may_have_rows(read):
                    self._make_empty(table)
                    continue
                self.make_inputs(read)
            self._make(table, read)

    def _give_texts(self, table: str) -> None:
        """From now on, this table of staging has its texts: it is a view."""
        if table in self._made and table not in self._with_texts and self.is_few():
            self._connection.execute(f"drop table {NAME}.{table}")
            self._made.discard(table)
        self._with_texts.add(table)

    def stand_in(self, table: str, query: str) -> None:
        """Put these rows under the name of an input, until a model asks for it."""
        with self.names():
            self._connection.execute(f"create or replace view {table} as {query}")
        self._made.discard(table)

    def may_have_rows(self, model: Model) -> bool:
        """Whether these sessions have the part of staging that the model is made of.

        To plan a query takes longer than to run it on one session, and most agents
        have no use for most models.
        """
        if not model.only:
            return True
        if model.only not in self._parts:
            table = model.only.split()[0]
            if table not in self._made:
                self._make(table, None)
            with self.names():
                found = self._connection.execute(
                    f"select 1 from {model.only} limit 1"
                ).fetchall()
            self._parts[model.only] = bool(found)
        return self._parts[model.only]

    def _make(self, table: str, read: Model | None) -> None:
        with self.names():
            self._connection.execute(self._statement(table, read))
        self._made.add(table)

    def _make_empty(self, table: str) -> None:
        """A view without rows, as a table of its columns."""
        if not self._shapes:
            rows = self._connection.execute(
                """
                select schema_name || '.' || table_name, string_agg(
                    '"' || column_name || '" ' || data_type, ', ' order by column_index
                )
                from duckdb_columns()
                where database_name = $1 and schema_name = 'core'
                group by all
                """,
                [self._lake],
            ).fetchall()
            self._shapes = dict(rows)
        with self.names():
            self._connection.execute(f"create table {table} ({self._shapes[table]})")
        self._made.add(table)

    def _statement(self, table: str, read: Model | None) -> str:
        """What several models read as a table; a model's own, large, as a view.

        Texts are never copied: they would not fit into memory.
        """
        view = f"create or replace view {table} as "
        everything = f'select * from "{self._lake}".{table}'
        if read is not None and read.is_view:
            return view + read.query
        if read is not None:
            return f"{view}{everything} where {self.condition(read.key)}"
        if not table.startswith("staging."):
            return view + everything
        condition = self.condition(("source", "session_id"))
        if not self.is_few() or table in self._with_texts:
            return f"{view}{everything} where {condition}"
        texts = long_texts(table)
        chosen = f"* exclude ({', '.join(texts)})" if texts else "*"
        return (
            f"create or replace table {table} as"
            f' select {chosen} from "{self._lake}".{table} where {condition}'
        )


def _of_sessions(key: Sequence[str], sessions: Sequence[Session]) -> str:
    """Whether a row belongs to one of these sessions, as a condition of literals."""
    source, session = key
    by_source: defaultdict[str, list[str]] = defaultdict(list)
    for name, one in sessions:
        by_source[name].append(literal(one))
    parts = [
        f"({source} = {literal(name)} and {session} in ({', '.join(ids)}))"
        for name, ids in by_source.items()
    ]
    return " or ".join(parts) or "false"
