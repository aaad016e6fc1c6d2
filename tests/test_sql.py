"""The SQL models: what they say of small inputs, and that a refresh is exact."""

import os
import random
import shutil

import pytest
from conftest import (
    CASES,
    Lake,
    bag,
    copied,
    plans_apart,
    rebuilt,
    refreshed,
    same,
    tables,
)

from agentlake.fixtures import FIXTURES_DIR
from agentlake.pipelines.load.loader import load
from agentlake.pipelines.warehouse.sql_models import models

ACCEPT = os.environ.get("AGENTLAKE_ACCEPT") == "1"

SHORT = 16
PIECES = 8


class Growing:
    """A home that is written bit by bit, as its agents would."""

    def __init__(self, case, homes, order=None):
        self._case = case
        self._home = homes / f"{case.source}.{case.name}"
        self._home.mkdir(parents=True)
        self.bits = [bit for file in self._files() for bit in self._bits(file)]
        if order is not None:
            self.bits = _shuffled(self.bits, order)

    def _files(self):
        """Files by name; what an agent archives lies in the archive afterwards."""
        files = (file for file in self._case.home.rglob("*") if file.is_file())
        return sorted(files, key=lambda file: ("archived_sessions" in file.parts, file))

    def _bits(self, file):
        to = self._home / file.relative_to(self._case.home)
        if file.suffix == ".jsonl":
            return [(to, line) for line in file.read_bytes().splitlines(keepends=True)]
        return [(to, file.read_bytes())]

    def grow(self, start, stop):
        for file, data in self.bits[start:stop]:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("ab") as out:
                out.write(data)

    def grow_piece(self, piece):
        count = len(self.bits)
        self.grow(count * piece // PIECES, count * (piece + 1) // PIECES)


def _shuffled(bits, order):
    """Files in any order, one after the other or mixed; some lines in two halves."""
    by_file = {}
    for file, data in bits:
        cut = order.randrange(len(data)) if order.random() < 0.3 else 0
        halves = [data[:cut], data[cut:]] if cut and file.suffix == ".jsonl" else [data]
        by_file.setdefault(file, []).extend(halves)
    files = order.sample(sorted(by_file), len(by_file))
    turns = [file for file in files for _ in by_file[file]]
    if order.random() < 0.5:
        order.shuffle(turns)
    return [(file, by_file[file].pop(0)) for file in turns]


def warehouse(connection):
    return tables(connection, "core", "staging", without=("load_id",))


def loaded_at_once(lake, now):
    with lake.open() as connection:
        load(connection, now, refresh=refreshed)
        return warehouse(connection)


def test_after_each_single_line_the_warehouse_equals_a_full_load(new_lake, tmp_path):
    homes = tmp_path / "homes"
    growing = [Growing(case, homes) for case in CASES]
    growing = [home for home in growing if len(home.bits) <= SHORT]
    with new_lake().open() as connection:
        for line in range(SHORT):
            for home in growing:
                home.grow(line, line + 1)
            now = plans_apart(homes)
            load(connection, now, refresh=refreshed)
            if line % 5 == 0:
                same(warehouse(connection), loaded_at_once(new_lake(), now))


def test_homes_that_grow_in_any_order_give_the_same_as_a_full_rebuild(
    new_lake, tmp_path
):
    """Children before parents, halves of lines, all files at once: it is the same.

    Left out is a case in which two files claim one thread: the first to be seen
    has its name then, so the lineage depends on the order.
    """
    homes = tmp_path / "homes"
    growing = [
        Growing(case, homes, random.Random(case.id))
        for case in CASES
        if case.name != "archived_and_compressed"
    ]
    with new_lake().open() as connection:
        for piece in range(PIECES):
            for home in growing:
                home.grow_piece(piece)
            now = plans_apart(homes)
            load(connection, now, refresh=refreshed)
            if piece == PIECES // 2:
                same(warehouse(connection), loaded_at_once(new_lake(), now))
        by_touch = warehouse(connection)
        rebuilt(connection)
        same(by_touch, warehouse(connection))
    same(by_touch, loaded_at_once(new_lake(), now))


# -- small cases: rows in, rows out

SQL_CASES = sorted(
    file.parent for file in FIXTURES_DIR.glob("sql/*/*/expected.csv")
)
DEFAULTS = {
    "source": "'codex'",
    "stream_id": "1",
    "generation": "0",
    "seq": "row_number() over () - 1",
    "part": "0",
    "load_id": "1",
    "session_id": "'s'",
    "role": "'assistant'",
    "staging.messages kind": "'response'",
    "staging.usage kind": "'call'",
    "call_part": "''",
}
"""What a row of staging has where its CSV does not care; some by table."""


@pytest.fixture(scope="module")
def models_only(empty_warehouse, tmp_path_factory):
    """One warehouse for all cases; each of them is rolled back."""
    path = tmp_path_factory.mktemp("cases") / "lake.duckdb"
    shutil.copyfile(empty_warehouse, path)
    with Lake(path, path.parent).open() as connection:
        connection.execute("set TimeZone = 'UTC'")
        yield connection


def csv(file):
    """Empty is null, a quoted nothing is the empty text."""
    name = str(file).replace("'", "''")
    return (
        f"from read_csv('{name}', all_varchar = true, header = true,"
        " nullstr = '', allow_quoted_nulls = false, quote = '\"', delim = ',')"
    )


def put(connection, table, file):
    """Insert a CSV; a helper, which is a view, becomes a table of these rows."""
    schema, name = table.split(".")
    columns = connection.execute(
        """
        select column_name, is_nullable, data_type from duckdb_columns()
        where database_name = current_database()
            and schema_name = $1 and table_name = $2
        order by column_index
        """,
        [schema, name],
    ).fetchall()
    assert columns, f"{file}: there is no {table}"
    if models().get(table) and models()[table].is_view:
        body = ", ".join(f'"{name}" {kind}' for name, _, kind in columns)
        connection.execute(f"drop view {table}")
        connection.execute(f"create table {table} ({body})")
    given = [column[0] for column in connection.execute(csv(file)).description]
    unknown = set(given) - {name for name, *_ in columns}
    assert not unknown, f"{file}: {table} has no {unknown}"
    more = "".join(
        f", {value} as {name}"
        for name, *_ in columns
        if name not in given and schema == "staging"
        if (value := DEFAULTS.get(f"{table} {name}", DEFAULTS.get(name)))
    )
    connection.execute(f"insert into {table} by name select *{more} {csv(file)}")


@pytest.mark.parametrize(
    "folder", SQL_CASES, ids=lambda it: f"{it.parent.name}/{it.name}"
)
def test_a_model_gives_the_expected_rows(folder, models_only):
    model = models()[folder.parent.name]
    expected = folder / "expected.csv"
    models_only.execute("begin")
    try:
        for file in sorted(folder.glob("*.csv")):
            if file != expected:
                put(models_only, file.stem, file)
        names = [column[0] for column in models_only.execute(csv(expected)).description]
        columns = ", ".join(f'cast("{name}" as varchar) as "{name}"' for name in names)
        models_only.execute(
            f"create temp table found as select {columns} from ({model.query})"
        )
        if ACCEPT:
            models_only.execute(
                f"copy (from found order by all) to '{expected}' (header, delim ',')"
            )
        same(
            {model.name: bag(models_only, "from temp.found")},
            {model.name: bag(models_only, csv(expected))},
        )
    finally:
        models_only.execute("rollback")


# -- rules that hold for all models

MAY_READ = {
    "core": ("staging.", "meta.", "core."),
    "marts": ("core.", "meta.", "marts."),
}
FILE_SIZES = {"marts.session_summary": {"staging.messages"}}
"""Which files a session lies in, only staging knows."""


@pytest.mark.parametrize("name", models())
def test_data_flows_downhill(name):
    layer = name.split(".")[0]
    uphill = {
        table
        for table in models()[name].reads
        if not table.startswith(MAY_READ[layer])
    }
    assert uphill - FILE_SIZES.get(name, set()) == set()


def test_every_model_is_unique_by_its_grain_over_all_cases_at_once(new_lake, tmp_path):
    homes = tmp_path / "homes"
    for case in CASES:
        copied(case, homes / f"{case.source}.{case.name}")
    with new_lake().open() as connection:
        load(connection, plans_apart(homes), refresh=refreshed)
        for model in models().values():
            keys = ", ".join(model.grain)
            doubled = connection.execute(
                f"select {keys}, count(*) from {model.name} group by all having count(*) > 1"
            ).fetchall()
            assert (model.name, doubled) == (model.name, [])
        sources = connection.execute("select distinct source from core.usage").fetchall()
        assert len(sources) == len({case.source for case in CASES})
