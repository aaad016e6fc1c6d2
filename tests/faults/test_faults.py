"""Whatever change of a file fails, or is the last one: nothing lost, nothing doubled.

Each command is run once undisturbed, which counts its changes of files; then with a
fault at one of them. Readers always see the state before it or the one after it, and
the next load makes the latter. A few places are tried here, spread over all changes;
`make faults` tries many, with AGENTLAKE_FAULTS=all each change and each way to fail.
"""

import os
import random
import shutil

import duckdb
import pytest
from support.faults import HOWS, commands
from support.transcripts import Disk, lines, rollout

from agentlake.pipelines.warehouse.copy_closed import mark_of
from agentlake.pipelines.warehouse.files import vault_of

pytestmark = pytest.mark.slow

WANTED = os.environ.get("AGENTLAKE_FAULTS", "")
FEW, SOME = 3, 6
"""How many faults a long command and a short one suffer when nothing is wanted."""
LONG = 500
EARLY = 12
"""Changes up to here make the files; the first fault is one of them."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with commands(tmp_path_factory.mktemp("faults")) as it:
        yield it.run


@pytest.fixture(scope="module")
def behind(tmp_path_factory, run):
    """A warehouse whose agents have gone on since its load."""
    made = Scenario(tmp_path_factory.mktemp("behind"), run)
    made.do("load")
    made.disk.append(lines(*range(20, 30)))
    made.disk.append(rollout(15, start=10), made.disk.thread)
    return made


@pytest.fixture(scope="module")
def loaded(tmp_path_factory, run, behind):
    """A warehouse that has loaded all there is, in two loads."""
    made = Scenario(tmp_path_factory.mktemp("loaded"), run, behind)
    made.do("load")
    return made


def content(path):
    """What a warehouse file holds, in short; None if there is none."""
    if not path.exists():
        return None
    with duckdb.connect(str(path), read_only=True) as connection:
        names = connection.execute(
            "select schema_name || '.' || table_name from duckdb_tables()"
            " where schema_name in ('raw', 'staging', 'core') order by all"
        ).fetchall()
        found = {}
        for (name,) in names:
            columns = f"select columns(lambda it: it <> 'load_id') from {name}"
            found[name] = connection.execute(
                f"select count(*), bit_xor(hash(it)) from ({columns}) as it"
            ).fetchone()
        return {name: row for name, row in found.items() if row[0]}


class Scenario:
    """A warehouse in some state, a home, and a command that changes the warehouse."""

    def __init__(self, folder, run, like=None):
        self.state = folder / "state"
        self.work = folder / "work"
        self._run = run
        if like is None:
            self.state.mkdir()
            self.disk = Disk(folder / "home")
            self.disk.write(lines(*range(20)))
            self.disk.write(rollout(10), self.disk.thread)
        else:
            shutil.copytree(like.state, self.state)
            self.disk = like.disk
        self.words = ("load",)

    @property
    def warehouse(self):
        return self.work / "lake.duckdb"

    def run(self, *words, **how):
        home = str(self.disk.home)
        environ = {"HOME": home, "AGENTLAKE_WAREHOUSE": str(self.warehouse)}
        return self._run(*words, environ=environ, folder=self.work, **how)

    def do(self, *words):
        """Let this be done in the state that it begins with."""
        self.begin()
        assert self.run(*words)[0] == 0
        shutil.rmtree(self.state)
        shutil.copytree(self.work, self.state)

    def begin(self):
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.state, self.work)

    def contents(self):
        return content(self.warehouse), content(vault_of(self.warehouse))


def first_load(folder, ready):
    return Scenario(folder, ready("run"))


def next_load(folder, ready):
    return Scenario(folder, ready("run"), ready("behind"))


def load_of_an_old_warehouse(folder, ready):
    """It has no vault yet."""
    made = next_load(folder, ready)
    vault_of(made.state / "lake.duckdb").unlink()
    return made


def later(*words):
    """What is done to a warehouse that has loaded all."""

    def make(folder, ready):
        made = Scenario(folder, ready("run"), ready("loaded"))
        places = {"WAREHOUSE": str(made.warehouse), "OUT": str(made.work / "out")}
        made.words = tuple(places.get(word, word) for word in words)
        return made

    return make


def export(folder, ready):
    """Over an older one: its files are whole, whichever they are."""
    made = later("export", "OUT", "marts.daily_usage", "core.usage")(folder, ready)
    made.do(*made.words)
    return made


SCENARIOS = {
    "first load": first_load,
    "next load": next_load,
    "load of an old warehouse": load_of_an_old_warehouse,
    "replay": later("replay"),
    "compaction": later("compact"),
    "restore": later("restore", "WAREHOUSE"),
    "export": export,
}


def chosen(name, count):
    """Where a fault is to happen, and which."""
    if WANTED == "all":
        return [(at, how) for at in range(1, count + 1) for how in HOWS]
    choose = random.Random(f"{name} {WANTED}")
    many = min(int(WANTED or (FEW if count > LONG else SOME)), count)
    hows = choose.sample(HOWS, len(HOWS))
    places = [choose.randint(1, min(EARLY, count))]
    places += [
        choose.randint(1 + count * part // many, count * (part + 1) // many)
        for part in range(1, many)
    ]
    return [(at, hows[turn % len(hows)]) for turn, at in enumerate(places)]


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_fault_costs_more_than_what_was_on_its_way(name, tmp_path, request):
    it = SCENARIOS[name](tmp_path, request.getfixturevalue)
    it.begin()
    before = it.contents()[0]
    code, said, count = it.run(*it.words)
    assert (code, "Traceback" in said) == (0, False), said
    it.run("load")
    after, vault = it.contents()
    assert after == vault
    for at, how in chosen(name, count):
        it.begin()
        code, said, _ = it.run(*it.words, at=at, how=how)
        about = f"{how} at change {at} of {count}: exit {code}\n{said}"
        assert "Traceback" not in said, about
        assert code < 0 if how in ("killed", "torn") else code in (0, 1, 2), about
        if not (how == "torn" and mark_of(it.warehouse).exists()):
            assert content(it.warehouse) in (before, after), about
        for file in (it.work / "out").glob("*.parquet"):
            assert duckdb.sql(f"select count(*) from '{file}'").fetchall(), about
        code, said, _ = it.run("load")
        if how == "torn" and "`agentlake restore " in said:  # half a block of DuckDB's
            it.run("restore", str(it.warehouse))
            code, said, _ = it.run("load")
        assert code == 0, f"{about}\nthen the next load: exit {code}\n{said}"
        assert it.contents() == (after, after), about
