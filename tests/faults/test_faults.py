"""Whatever change of a file fails, or is the last one: nothing lost, nothing doubled.

Each command is run once undisturbed, which counts its changes of files; then once for
each change and each way to fail. Readers always see the state before it or the one
after it, and the next load makes the latter. `AGENTLAKE_FAULTS=all` takes every change,
which takes half an hour; else some are taken, at other places in each scenario.
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

EVERY = os.environ.get("AGENTLAKE_FAULTS") == "all"
SOME = 3


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with commands(tmp_path_factory.mktemp("faults")) as it:
        yield it.run


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

    def __init__(self, folder, words, run):
        self.home = folder / "home"
        self.state = folder / "state"
        self.work = folder / "work"
        self.words = words
        self._run = run
        self.state.mkdir()
        self.disk = Disk(self.home)
        self.disk.write(lines(*range(20)))
        self.disk.write(rollout(10), self.disk.thread)

    @property
    def warehouse(self):
        return self.work / "lake.duckdb"

    def run(self, *words, **how):
        environ = {"HOME": str(self.home), "AGENTLAKE_WAREHOUSE": str(self.warehouse)}
        return self._run(*words, environ=environ, folder=self.work, **how)

    def begin(self):
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.state, self.work)

    def keep(self):
        shutil.rmtree(self.state)
        shutil.copytree(self.work, self.state)

    def contents(self):
        return content(self.warehouse), content(vault_of(self.warehouse))


def first_load(folder, run):
    return Scenario(folder, ("load",), run)


def next_load(folder, run):
    made = first_load(folder, run)
    made.begin()
    assert made.run("load")[0] == 0
    made.keep()
    made.disk.append(lines(*range(20, 30)))
    made.disk.write(rollout(15), made.disk.thread)
    return made


def load_of_an_old_warehouse(folder, run):
    """It has no vault yet."""
    made = next_load(folder, run)
    vault_of(made.state / "lake.duckdb").unlink()
    return made


def replay(folder, run):
    made = next_load(folder, run)
    made.words = ("replay",)
    made.begin()
    assert made.run("load")[0] == 0
    made.keep()
    return made


def compaction(folder, run):
    made = replay(folder, run)
    made.words = ("compact",)
    return made


def export(folder, run):
    """Over an older one: its files are whole, whichever they are."""
    made = replay(folder, run)
    made.words = ("export", str(made.work / "out"), *EXPORTED)
    made.begin()
    assert made.run(*made.words)[0] == 0
    made.keep()
    return made


EXPORTED = ("marts.daily_usage", "core.usage")
SCENARIOS = (
    first_load,
    next_load,
    load_of_an_old_warehouse,
    replay,
    compaction,
    export,
)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda it: it.__name__)
def test_no_fault_costs_more_than_what_was_on_its_way(tmp_path, run, scenario, how):
    it = scenario(tmp_path, run)
    it.begin()
    before = it.contents()[0]
    code, said, count = it.run(*it.words)
    assert (code, "Traceback" in said) == (0, False), said
    assert count > SOME
    it.run("load")
    after, vault = it.contents()
    assert after == vault
    choose = random.Random(f"{scenario.__name__} {how}")
    chosen = range(1, count + 1)
    for at in chosen if EVERY else sorted(choose.sample(chosen, SOME)):
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
