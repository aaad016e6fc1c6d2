"""Warehouses to load, to read whole, and to compare."""

import shutil
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from agentlake.pipelines.ingest.loader import load
from agentlake.pipelines.prices.update import update_quotes
from agentlake.pipelines.transform.refresh import refresh
from agentlake.pipelines.warehouse.connect import writing
from agentlake.pipelines.warehouse.files import vault_of
from support.cases import plans

LINEAGE = ("stream_id", "generation", "load_id")


def refreshed(connection):
    return refresh(
        connection, prepare_prices=lambda it, used: update_quotes(it, used, {})
    )


def rebuilt(connection):
    """Every model made again whole, as after a change of all SQL."""
    connection.execute("delete from meta.model_state")
    return refreshed(connection)


def tables(connection, *schemas, without=()):
    """All rows of all tables of these schemas, as a bag per table."""
    found = connection.execute(
        """
        select schema_name || '.' || table_name from duckdb_tables()
        where database_name = current_database() and schema_name in (select unnest($1))
        order by all
        """,
        [list(schemas)],
    ).fetchall()
    return {
        name: bag(connection, f"from {_quoted(name)}", without) for (name,) in found
    }


def bag(connection, query, without=()):
    """The rows of a query and how often each comes; columns by name."""
    result = connection.execute(query)
    names = [column[0] for column in result.description]
    keep = [at for at, name in enumerate(names) if name not in without]
    return Counter(tuple(repr(row[at]) for at in keep) for row in result.fetchall())


def _quoted(name):
    return ".".join(f'"{part}"' for part in name.split("."))


def same(one, other):
    """Assert that the tables are equal; show the first rows that are not."""
    lines = []
    for name in sorted(one.keys() | other.keys()):
        left, right = one.get(name, Counter()), other.get(name, Counter())
        for sign, rows in (("-", left - right), ("+", right - left)):
            lines += [f"{sign} {name} {' '.join(row)}" for row in sorted(rows)[:3]]
    assert not lines, "\n".join(lines)


class ScratchLake:
    """A warehouse and the home that it is loaded from; it stays open until closed."""

    def __init__(self, path, home):
        self.path = path
        self.home = home
        self._open = ExitStack()
        self._connection = None

    @property
    def connection(self):
        if self._connection is None:
            self._connection = self._open.enter_context(writing(self.path))
            self._connection.execute("set threads = 1")
        return self._connection

    def close(self):
        self._open.close()
        self._connection = None

    def load(self, plans_=None, *, fresh=True, **more):
        """One load as the command does it; its report."""
        return load(
            self.connection,
            plans(self.home) if plans_ is None else plans_,
            refresh=refreshed if fresh else lambda _: None,
            **more,
        )

    def rows(self, query):
        return self.connection.execute(query).fetchall()

    def one(self, query):
        ((value,),) = self.rows(query)
        return value

    def all(self, *schemas, without=()):
        return tables(self.connection, *schemas, without=without)


def like(warehouse, path):
    """Make another warehouse with the same rows, vault and published copy."""
    for of in (Path, vault_of):
        shutil.copy2(of(warehouse), of(path))


def is_consistent(lake):
    """Nothing doubled, and each checkpoint counts exactly the rows of its stream."""
    for source in ("claude_code", "codex"):
        assert (
            lake.rows(
                f"""
                select stream_id, record_key from raw.{source}
                group by all having count(*) > 1
                """
            )
            == []
        )
        assert (
            lake.rows(
                f"""
            select path, records, rows
            from (select stream_id, count(*) as rows from raw.{source} group by all)
            full join (from meta.streams where source = '{source}') using (stream_id)
            where coalesce(records, 0) <> coalesce(rows, 0)
            """
            )
            == []
        )
    for name in tables(lake.connection, "staging"):
        doubled = lake.connection.execute(
            f"""
                select stream_id, generation, seq, part from {name}
                group by all having count(*) > 1
                """
        ).fetchall()
        assert (name, doubled) == (name, [])
