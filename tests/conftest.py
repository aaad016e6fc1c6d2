"""What tests share: the golden cases, homes to write in, warehouses to load."""

import json
import os
import shutil
import sqlite3
import tempfile
from collections import Counter
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

import hypothesis
import pytest
from msgspec.structs import replace

from agentlake.adapters.registry import adapters
from agentlake.fixtures import FIXTURES_DIR
from agentlake.models.fact import Fact
from agentlake.pipelines.ingest.loader import load
from agentlake.pipelines.ingest.plan import SourcePlan
from agentlake.pipelines.prices.update import update_quotes
from agentlake.pipelines.settings.places import resolve_roots
from agentlake.pipelines.settings.settings import load_settings
from agentlake.pipelines.transform.refresh import refresh
from agentlake.pipelines.warehouse.connect import writing
from agentlake.pipelines.warehouse.publish import publish, vault_of

# How long a busy machine takes says nothing about what is tested.
hypothesis.settings.register_profile(
    "patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("patient")

LINEAGE = ("stream_id", "generation", "load_id")


_SCRATCH = tempfile.TemporaryDirectory(prefix="agentlake-cases-")


class Case:
    """One golden case: a home as an agent left it, and what has to be found in it."""

    def __init__(self, folder):
        self.folder = folder
        self.source, self.name = folder.parts[-2:]
        self.id = f"{self.source}/{self.name}"

    @cached_property
    def home(self):
        """The home; a copy with databases made of its .sql files, if it has some."""
        home = self.folder / "home"
        if not any(home.rglob("*.sql")):
            return home
        made = Path(_SCRATCH.name, self.source, self.name, "home")
        if not made.exists():
            shutil.copytree(home, made, copy_function=shutil.copy)
            for script in made.rglob("*.sql"):
                database = sqlite3.connect(script.with_suffix(""))
                database.executescript(script.read_text())
                database.close()
                script.unlink()
        return made

    @property
    def checks(self):
        return json.loads((self.folder / "expected.json").read_text())["checks"]


CASES = [
    Case(file.parent) for file in sorted(FIXTURES_DIR.glob("sources/*/*/expected.json"))
]


LOADED_FAST = {"claude_code", "gemini_cli", "opencode"}
"""One source for each kind of reader: lines, documents, databases."""


def pytest_generate_tests(metafunc):
    if "case" in metafunc.fixturenames:
        # All cases load the same way: of most sources only CI does.
        slow = "its_rows" in metafunc.function.__name__
        metafunc.parametrize(
            "case",
            [
                pytest.param(case, id=case.id, marks=[pytest.mark.slow])
                if slow and case.source not in LOADED_FAST
                else pytest.param(case, id=case.id)
                for case in CASES
            ],
        )


def plans(home):
    """What `agentlake load --home` would look at."""
    settings = load_settings(
        config=None,
        home=home,
        warehouse=None,
        environ={"HOME": str(home)},
        known_sources=adapters(),
    )
    return [
        SourcePlan(
            adapter=adapter,
            roots=resolve_roots(adapter.ROOTS, settings, name, {"HOME": str(home)}),
        )
        for name, adapter in adapters().items()
    ]


class Apart:
    """An adapter that reads many homes at once and keeps their ids apart.

    The cases use the same few ids. Here each gets the name of its home, the folder
    below `homes`, in front; all else is the adapter's own.
    """

    def __init__(self, adapter, homes):
        self.SOURCE = adapter.SOURCE
        self.ROOTS = adapter.ROOTS
        self.PARSER_VERSION = adapter.PARSER_VERSION
        self._adapter = adapter
        self._homes = homes

    def discover(self, root, options):
        home = Path(root).relative_to(self._homes).parts[0]
        for stream in self._adapter.discover(root, options):
            yield replace(stream, key=f"{home}|{stream.key}")

    def explode(self, stream, data):
        return self._adapter.explode(_own(stream), data)

    def tables(self, stream):
        return self._adapter.tables(_own(stream))

    def read(self, stream, cursor, options):
        return self._adapter.read(_own(stream), cursor, options)

    def parse(self, record):
        home, _, _ = record.stream.key.partition("|")
        own = replace(record, stream=_own(record.stream))
        for found in self._adapter.parse(own):
            yield _prefixed(found, home) if isinstance(found, Fact) else found


def _own(stream):
    return replace(stream, key=stream.key.partition("|")[2])


def _prefixed(fact, home):
    ids = {
        name: f"{home}|{value}"
        for name in fact.__struct_fields__
        if name.endswith("_id")
        or name in ("counter", "replay_base", "scope", "usage_key")
        if (value := getattr(fact, name))
    }
    return replace(fact, **ids)


def plans_apart(homes):
    """One plan per source for all homes below a folder."""
    every = [plan for home in sorted(homes.iterdir()) for plan in plans(home)]
    return [
        SourcePlan(
            adapter=Apart(adapter, homes),
            roots=[
                root for one in every if one.adapter is adapter for root in one.roots
            ],
        )
        for adapter in adapters().values()
    ]


def refreshed(connection):
    return refresh(connection, prepare_prices=lambda it: update_quotes(it, {}))


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


class Lake:
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


@pytest.fixture(scope="session")
def empty_warehouse(tmp_path_factory):
    """A warehouse with all tables and models and nothing in them; do not write."""
    folder = tmp_path_factory.mktemp("empty")
    lake = Lake(folder / "empty.duckdb", folder)
    lake.load()
    lake.close()
    publish(lake.path)
    return lake.path


def like(warehouse, path):
    """Make another warehouse with the same rows, vault and published copy."""
    for of in (Path, vault_of):
        shutil.copy2(of(warehouse), of(path))


@pytest.fixture
def new_lake(tmp_path, empty_warehouse):
    """Makes warehouses; all share one home unless another is given."""
    made = []

    def make(home=None):
        path = tmp_path / f"lake{len(made)}.duckdb"
        like(empty_warehouse, path)
        if home is None:
            home = tmp_path / "home"
            home.mkdir(exist_ok=True)
        made.append(Lake(path, home))
        return made[-1]

    yield make
    for lake in made:
        lake.close()


@pytest.fixture
def lake(new_lake):
    return new_lake()


def copied(case, to):
    """The case's home as if it had just been written."""
    shutil.copytree(case.home, to, copy_function=shutil.copy)
    return to


def aged(path, seconds=7200):
    """Make the file look as if nobody had written to it for that long."""
    status = path.stat()
    then = status.st_mtime_ns - seconds * 10**9
    os.utime(path, ns=(then, then))


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch):
    """Nobody looks at the tests' output, whatever width who runs them has."""
    monkeypatch.delenv("COLUMNS", raising=False)
