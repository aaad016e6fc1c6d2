"""The SQL models: what they say of small inputs, and that a refresh is exact."""

import random
import shutil
from collections import Counter

import pytest
from support.cases import CASES, copied, plans_apart
from support.transcripts import THREAD, event, rollout
from support.warehouses import ScratchLake, bag, rebuilt, refreshed, same, tables

from agentlake.fixtures import FIXTURES_DIR
from agentlake.pipelines.ingest.keyed import KEYED
from agentlake.pipelines.ingest.loader import load
from agentlake.pipelines.transform.sql_models import models
from agentlake.pipelines.warehouse.files import vault_of
from agentlake.pipelines.warehouse.insert import insert_columns

SHORT = 12
PIECES = 5


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

    def renew(self, order):
        """Replace some transcripts by equal files, as a copy of the home has them."""
        for file in sorted(self._home.rglob("*.jsonl")):
            if order.random() < 0.4:
                shutil.copy(file, f"{file}.new")
                file.with_name(f"{file.name}.new").replace(file)


def _shuffled(bits, order):
    """Files in any order, one after the other or mixed; some lines in two halves."""
    by_file = {}
    for file, data in bits:
        cut = order.randrange(len(data) or 1) if order.random() < 0.3 else 0
        halves = [data[:cut], data[cut:]] if cut and file.suffix == ".jsonl" else [data]
        by_file.setdefault(file, []).extend(halves)
    files = order.sample(sorted(by_file), len(by_file))
    turns = [file for file in files for _ in by_file[file]]
    if order.random() < 0.5:
        order.shuffle(turns)
    return [(file, by_file[file].pop(0)) for file in turns]


def warehouse(connection):
    return tables(connection, "core", "staging", without=("load_id",))


def of_lines(connection, found):
    """The rows of sources all of whose history is lines and whole files.

    Of what is changed in place a later load sees less: what was taken back, and the
    totals in between, are news only to those who loaded in time (test_versions).
    """
    rows = connection.execute(
        "select distinct source from meta.streams where reader in ($1, $2, $3)",
        sorted(KEYED),
    ).fetchall()
    keyed = {repr(source) for (source,) in rows}
    assert len(keyed) > 5
    return {
        name: Counter({row: n for row, n in bag.items() if row[0] not in keyed})
        for name, bag in found.items()
    }


def loaded_at_once(lake, now):
    connection = lake.connection
    load(connection, now, refresh=refreshed)
    return of_lines(connection, warehouse(connection))


@pytest.mark.slow
def test_after_each_single_line_the_warehouse_equals_a_full_load(new_lake, tmp_path):
    homes = tmp_path / "homes"
    growing = [Growing(case, homes) for case in CASES]
    growing = [home for home in growing if len(home.bits) <= SHORT]
    connection = new_lake().connection
    for line in range(SHORT):
        for home in growing:
            home.grow(line, line + 1)
        now = plans_apart(homes)
        load(connection, now, refresh=refreshed)
        if line % 5 == 0:
            found = of_lines(connection, warehouse(connection))
            same(found, loaded_at_once(new_lake(), now))


@pytest.mark.slow
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
    connection = new_lake().connection
    order = random.Random(1)
    for piece in range(PIECES):
        for home in growing:
            home.renew(order)
            home.grow_piece(piece)
        now = plans_apart(homes)
        load(connection, now, refresh=refreshed)
    by_touch = warehouse(connection)
    rebuilt(connection)
    same(by_touch, warehouse(connection))
    same(of_lines(connection, by_touch), loaded_at_once(new_lake(), now))


# -- small cases: rows in, rows out

SQL_CASES = sorted(file.parent for file in FIXTURES_DIR.glob("sql/*/*/expected.csv"))
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
    "granularity": "'call'",
    "unit": "'tokens'",
    "call_part": "''",
}
"""What a row of staging has where its CSV does not care; some by table."""
OF_TEXT = {
    "text_hash": "cast(hash(text) >> 1 as bigint)",
    "headline": "title_of(typed(text))",
}
"""What is made of a text when its row is."""


@pytest.fixture(scope="module")
def models_only(empty_warehouse, tmp_path_factory):
    """One warehouse for all cases; each of them is rolled back."""
    path = tmp_path_factory.mktemp("cases") / "lake.duckdb"
    shutil.copy2(vault_of(empty_warehouse), vault_of(path))
    lake = ScratchLake(path, path.parent)
    lake.connection.execute("set TimeZone = 'UTC'")
    yield lake.connection
    lake.close()


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
    if "text" in given:
        more += "".join(
            f", {value} as {name}"
            for name, *_ in columns
            if (value := OF_TEXT.get(name))
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
        for name in model.reads:  # a table that no file gives is made by its own query
            read = models().get(name)
            if read and not read.is_view and not (folder / f"{name}.csv").exists():
                models_only.execute(f"insert into {name} by name {read.query}")
        names = [column[0] for column in models_only.execute(csv(expected)).description]
        columns = ", ".join(f'cast("{name}" as varchar) as "{name}"' for name in names)
        models_only.execute(
            f"create temp table found as select {columns} from ({model.query})"
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
        table for table in models()[name].reads if not table.startswith(MAY_READ[layer])
    }
    assert uphill - FILE_SIZES.get(name, set()) == set()


@pytest.mark.slow
def test_every_model_is_unique_by_its_grain_over_all_cases_at_once(new_lake, tmp_path):
    homes = tmp_path / "homes"
    for case in CASES:
        copied(case, homes / f"{case.source}.{case.name}")
    connection = new_lake().connection
    load(connection, plans_apart(homes), refresh=refreshed)
    for model in models().values():
        keys = ", ".join(model.grain)
        doubled = connection.execute(
            f"""
            select {keys}, count(*) from {model.name}
            group by all having count(*) > 1
            """
        ).fetchall()
        assert (model.name, doubled) == (model.name, [])
    sources = connection.execute("select distinct source from core.usage").fetchall()
    assert len(sources) == len({case.source for case in CASES})


def test_a_thread_without_turns_does_not_depend_on_what_is_loaded_with_it(
    lake, tmp_path
):
    """The header alone came first, of a thread that another load completes or not."""
    other = "019b0000-0000-7000-8000-0000000000b2"
    folder = lake.home / ".codex/sessions/2026/01/01"
    folder.mkdir(parents=True)
    name = "rollout-2026-01-01T00-00-00-{}.jsonl"
    (folder / name.format(THREAD)).write_bytes(rollout(3))
    lake.load()
    said = {"type": "message", "role": "user", "content": "hi"}
    header = {"id": other, "timestamp": "2025-12-31T00:00:00Z", "cwd": "/x"}
    (folder / name.format(other)).write_bytes(
        event(0, type="session_meta", payload=header)
        + event(1, type="response_item", payload=said)
    )
    lake.load()
    connection = lake.connection
    by_touch = warehouse(connection)
    rebuilt(connection)
    same(by_touch, warehouse(connection))


# -- sessions that are tied in every way that facts can tie them

WORLDS = 40
LOADS = 4


class World:
    """A few sessions of one source that share some kinds of ids, as no agent would."""

    def __init__(self, number, source, order):
        self.name = f"{source}{number}"
        self.source = source
        self.first_stream = number * 10 + (1000 if source == "codex" else 2000)
        self.order = order
        self.seqs = {}
        self.shared = {kind for kind in "mrscktn" if order.random() < 0.3}
        self.rows = {}

    def one_of(self, session, kind, count, chance=1.0):
        """An id of this kind, which other sessions have too if the world shares it."""
        is_shared = kind in self.shared
        if self.order.random() >= chance or (kind == "s" and not is_shared):
            return None
        whose = self.name if is_shared else f"{self.name}.own{session}"
        return f"{whose}.{kind}{self.order.randrange(count)}"

    def maybe(self, *values):
        return self.order.choice(values)

    def at(self):
        minute, second = self.order.randrange(10), self.order.random() * 59.9
        return f"2026-01-01 00:{minute:02}:{second:06.3f}Z"

    def add(self, table, session, **values):
        seq = self.seqs[session] = self.seqs.get(session, -1) + 1
        lineage = {
            "source": self.source,
            "stream_id": self.first_stream + session,
            "generation": 0,
            "seq": seq,
            "part": 0,
            "session_id": f"{self.name}.s{session}",
        }
        self.rows.setdefault(table, []).append(lineage | values)

    def go_on(self):
        """What one load finds new."""
        self.rows = {}
        for session in range(4):
            if self.order.random() < 0.5:
                for _ in range(self.order.randrange(3)):
                    self._message(session)
                self._about(session)
                if self.source == "codex":
                    self._turns(session)
        return self.rows

    def _message(self, session):
        message = self.one_of(session, "m", 6)
        is_claude = self.source == "claude_code"
        agent = self.maybe("a1", None, None, None) if is_claude else None
        self.add(
            "messages",
            session,
            agent_id=agent,
            message_id=message,
            record_id=self.one_of(session, "r", 6, 0.7),
            parent_record_id=self.one_of(session, "r", 6, 0.5),
            request_session_id=self.one_of(session, "s", 4, 0.07)
            if is_claude
            else None,
            forked_from_session_id=self.one_of(session, "s", 4, 0.07)
            if is_claude
            else None,
            role="user",
            kind=self.maybe("prompt", "response", "command"),
            sent_at=self.at(),
            ordinal=self.maybe(None, 2, 4, 6),
        )
        self.add(
            "blocks",
            session,
            agent_id=agent,
            message_id=message,
            block_index=0,
            type="text",
            text=self.maybe("a", "b"),
        )
        self.add(
            "tool_calls",
            session,
            agent_id=agent,
            message_id=message,
            tool_call_id=self.one_of(session, "c", 3),
            called_at=self.at(),
        )
        if is_claude:
            self.add(
                "usage",
                session,
                agent_id=agent,
                message_id=self.maybe(message, message, ""),
                request_id=self.maybe(None, f"{message}q1", f"{message}q2"),
                record_id=self.one_of(session, "r", 6, 0.5),
                kind="call",
                call_part=self.maybe("", "", "advisor:0", "fallback:0"),
                called_at=self.at(),
                input_tokens=self.order.randrange(3),
                output_tokens=self.order.randrange(3),
            )

    def _about(self, session):
        parent = self.one_of(session, "s", 4, 0.5)
        self.add(
            "sessions",
            session,
            parent_session_id=parent,
            relation=self.maybe("fork", "subagent", None) if parent else None,
            replay_base=self.one_of(session, "s", 4, 0.1),
            own_from_ordinal=self.maybe(None, None, None, 4),
            is_header=True if self.source == "codex" else None,
            started_at=self.at(),
        )
        title = self.maybe("t", "u")
        leaf = self.one_of(session, "r", 6, 0.5)
        self.add(
            "sessions",
            session,
            title=title,
            leaf_record_id=leaf,
            title_source="summary" if leaf else "ai",
        )
        self.add(
            "links",
            session,
            parent_session_id=self.one_of(session, "s", 4)
            or f"{self.name}.gone{session}",
            relation=self.maybe("fork", "copied", "continuation"),
        )
        self.add(
            "tool_results",
            session,
            tool_call_id=self.one_of(session, "c", 3),
            text=self.maybe("out", None),
            finished_at=self.at(),
        )
        self.add(
            "compactions",
            session,
            compaction_id=self.one_of(session, "k", 2),
            trigger=self.maybe("auto", None),
            is_summary=self.maybe(True, None),
            compacted_at=self.at(),
        )

    def _turns(self, session):
        for _ in range(self.order.randrange(4)):
            total = self.order.randrange(5)
            self.add(
                "turns",
                session,
                turn_id=self.one_of(session, "t", 4, 0.6),
                kind=self.maybe("context", "started", "ended"),
                model=self.maybe("m", "n", None),
                began_at=self.at(),
                ordinal=self.maybe(None, 2, 4, 6),
            )
            self.add(
                "usage",
                session,
                kind=self.maybe("counter", "counter", "counter", "response"),
                call_part="",
                turn_id=self.one_of(session, "t", 4, 0.3),
                counter=f"{self.one_of(session, 'n', 1)}.{total}",
                called_at=self.at(),
                input_tokens=self.maybe(5, 10, None),
                output_tokens=1,
                total_input_tokens=total * 10,
                total_cache_read_tokens=0,
                total_cache_write_tokens=0,
                total_output_tokens=total,
            )


@pytest.mark.slow
def test_whatever_ties_sessions_together_a_refresh_equals_a_full_rebuild(lake):
    order = random.Random(4)
    worlds = [
        World(number, source, order)
        for number in range(WORLDS)
        for source in ("claude_code", "codex")
    ]
    connection = lake.connection
    for load_id in range(1, LOADS + 1):
        rows = {}
        for world in order.sample(worlds, len(worlds) * 2 // 3):
            for table, more in world.go_on().items():
                rows.setdefault(table, []).extend(more)
        for table, found in rows.items():
            names = sorted({name for row in found for name in row})
            columns = {name: [row.get(name) for row in found] for name in names}
            columns["load_id"] = [load_id] * len(found)
            insert_columns(connection, f"staging.{table}", columns)
            connection.execute(
                "insert into meta.session_loads select distinct source, session_id,"
                f" load_id from staging.{table} where load_id = {load_id}"
            )
        connection.execute(
            "insert into meta.loads values ($1, now(), now(), 0, 0, 0, 0)",
            [load_id],
        )
        refreshed(connection)
    by_touch = tables(connection, "core", without=("load_id",))
    rebuilt(connection)
    same(by_touch, tables(connection, "core", without=("load_id",)))
    assert sum(by_touch["core.messages"].values()) > 300
