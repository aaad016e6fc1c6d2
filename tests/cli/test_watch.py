"""`agentlake watch`: what is written is loaded, whatever happens on the way."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentlake.adapters.registry import adapters
from agentlake.fixtures import FIXTURES_DIR
from agentlake.pipelines import timing
from agentlake.pipelines import watching as module
from agentlake.pipelines.settings.settings import load_settings
from agentlake.pipelines.warehouse.connect import reading, writing
from agentlake.pipelines.watching import Watching, is_silent, watch

pytestmark = pytest.mark.slow

PATIENCE_S = 60.0


class Watched:
    """A home that is watched in this process, by a thread."""

    def __init__(self, folder, warehouse):
        self.home = folder / "home"
        self.home.mkdir()
        self.warehouse = folder / "lake.duckdb"
        shutil.copyfile(warehouse, self.warehouse)
        self.loads, self.errors, self.silent = [], [], []
        self.stop = threading.Event()
        environ = {"HOME": str(self.home)}
        settings = load_settings(
            config=None,
            home=self.home,
            warehouse=self.warehouse,
            environ=environ,
            known_sources=adapters(),
        )
        self.watching = Watching(
            settings,
            environ,
            on_load=self.loads.append,
            on_error=lambda sources, error: self.errors.append((list(sources), error)),
        )

    @contextmanager
    def watch(self, **more):
        def go():
            watch(
                self.watching,
                self.stop,
                on_silent=lambda *said: self.silent.append(said),
                **more,
            )

        thread = threading.Thread(target=go)
        thread.start()
        try:
            self.until(lambda: self.loads)  # what was there before
            yield
        finally:
            self.stop.set()
            thread.join(PATIENCE_S)
            assert not thread.is_alive()

    def until(self, what):
        end = time.monotonic() + PATIENCE_S
        while not what():
            assert time.monotonic() < end, (self.loads, self.errors)
            time.sleep(0.05)

    def records(self):
        return sum(done.result.report.total("records") for done in self.loads)

    def write(self, name="one", times=1):
        file = self.home / f".claude/projects/p/{name}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as to:
            for _ in range(times):
                to.write(f'{{"type":"user","uuid":"{time.time_ns()}"}}\n')
                to.flush()


@pytest.fixture
def watched(tmp_path, empty_warehouse):
    return Watched(tmp_path, empty_warehouse)


def in_raw(watched):
    with reading(watched.warehouse) as connection:
        query = "select count(*) from raw.claude_code"
        return connection.execute(query).fetchall()[0][0]


@pytest.mark.parametrize("poll", [False, True])
def test_what_is_there_and_what_comes_is_loaded(watched, poll):
    watched.write(times=3)
    with watched.watch(poll=poll):
        assert watched.records() == 3
        watched.write()
        watched.until(lambda: watched.records() == 4)
        watched.write("another")
        watched.until(lambda: watched.records() == 5)
        assert watched.loads[-1].result.report.total("read") == 1
        assert 0 <= watched.loads[-1].lag_s < PATIENCE_S
    assert in_raw(watched) == 5
    assert not watched.errors


def test_what_the_system_tells_is_enough(watched, monkeypatch):
    """No look that is due anyway helps; also not after places were looked at again."""
    monkeypatch.setattr(timing, "SCAN_EVERY_S", 10 * PATIENCE_S)
    monkeypatch.setattr(timing, "PLACES_EVERY_S", 0.1)
    seen = []
    places = watched.watching.places
    monkeypatch.setattr(watched.watching, "places", lambda: seen.append(1) or places())
    watched.write()
    with watched.watch():
        for number in (2, 3):
            before = len(seen)
            watched.until(lambda before=before: len(seen) >= before + 2)
            watched.write()
            watched.until(lambda number=number: watched.records() == number)


def test_an_agent_that_is_installed_later_is_found(watched):
    with watched.watch():
        assert not watched.loads[0].result.report.sources["claude_code"].found
        watched.write()
        watched.until(lambda: watched.records() == 1)
        shutil.rmtree(watched.home / ".claude")
        watched.write("again")
        watched.until(lambda: watched.records() == 2)
    assert not watched.errors


def test_a_link_that_leads_out_is_not_waited_for(watched):
    watched.write()
    (watched.home / ".claude/all").symlink_to("/")
    with watched.watch():
        watched.write()
        watched.until(lambda: watched.records() == 2)
    ((places, why),) = watched.silent
    assert [place.name for place in places] == [".claude"]
    assert why == "a link in it leads out of it"


def test_a_burst_is_few_loads(watched):
    watched.write()
    with watched.watch():
        for _ in range(100):
            watched.write()
            time.sleep(0.005)
        watched.until(lambda: watched.records() == 101)
        assert len(watched.loads) < 10


def test_a_source_that_breaks_stops_no_other(watched, monkeypatch):
    """Once while it is looked at, and once while it is loaded."""
    codex = adapters()["codex"]
    monkeypatch.setattr("agentlake.pipelines.sync.all_later", adapters)
    shutil.copytree(
        FIXTURES_DIR / "sources/codex/fork_legacy/home",
        watched.home,
        dirs_exist_ok=True,
    )

    def broken(settings, plans, **more):
        if any(plan.adapter is codex for plan in plans):
            msg = "a fault of ours"
            raise RuntimeError(msg)
        return module_sync(settings, plans, **more)

    module_sync = module.sync_plans
    monkeypatch.setattr(module, "sync_plans", broken)
    watched.write()
    with watched.watch():
        watched.until(lambda: watched.errors)
        assert watched.errors[0][0] == ["codex"]
        watched.until(lambda: watched.records() == 1)
        watched.write()
        watched.until(lambda: watched.records() == 2)
        monkeypatch.setattr(module, "sync_plans", module_sync)
        watched.until(
            lambda: any(one.result.report.sources.get("codex") for one in watched.loads)
        )

        def gone(root, options):
            raise PermissionError(root)

        monkeypatch.setattr(codex, "discover", gone)
        before = watched.records()
        watched.errors.clear()
        for one in watched.watching.scanners.values():
            one.listed_at = float("-inf")
        watched.write()
        watched.until(lambda: watched.records() == before + 1)
        watched.until(lambda: watched.errors)
        assert watched.errors[0][0] == ["codex"]


def test_who_holds_the_warehouse_delays_and_loses_nothing(watched, monkeypatch):
    monkeypatch.setattr(timing, "LOAD_WAIT_S", 0.1)
    watched.write()
    with watched.watch():
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(watched.warehouse)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        with holder:
            holder.stdout.readline()
            watched.write()
            watched.until(lambda: watched.errors)
            assert f"pid {holder.pid}" in str(watched.errors[0][1])
            holder.communicate(b"\n")
        watched.until(lambda: watched.records() == 2)


HOLDER = """
import pathlib, sys
from agentlake.pipelines.warehouse.connect import writing
with writing(pathlib.Path(sys.argv[1])):
    print(flush=True)
    input()
"""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts in /proc")
def test_nothing_stays_open_over_many_loads_and_many_new_places(watched):
    watched.write()
    watched.watching.places()
    watched.watching.turn()

    def cycle(number):
        watched.write(f"s{number}")
        watched.watching.places()
        watched.watching.turn()
        stop = threading.Event()
        with module.closing(module._changes([watched.home], stop)) as changes:
            watched.write(f"s{number}")
            next(changes)

    cycle(0)
    before = len(os.listdir("/proc/self/fd"))
    for number in range(1, 26):
        cycle(number)
    assert len(os.listdir("/proc/self/fd")) <= before + 2  # one is just being closed
    assert len(watched.loads) > 20


def test_places_where_nothing_is_told_are_polled(tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/sda1 / ext4 rw 0 0\n"
        "nas:/home /mnt/my\\040nas nfs4 rw 0 0\n"
        "C:\\134 /mnt/c 9p rw 0 0\n"
        "/dev/sdb1 /mnt/c/real ext4 rw 0 0\n"
    )
    silent = ["/mnt/my nas/me/.claude", "/mnt/c/Users/me/.claude", "/mnt/c"]
    loud = ["/home/me/.claude", "/mnt/cc", "/mnt/c/real/x", "/mnt"]
    assert [is_silent(Path(place), str(mounts)) for place in silent] == [True] * 3
    assert [is_silent(Path(place), str(mounts)) for place in loud] == [False] * 4
    assert not is_silent(Path("/mnt/c"), str(tmp_path / "none"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_says_a_line_for_each_load_and_ends_well(watched, number):
    watched.write()
    command = [sys.executable, "-m", "agentlake", "watch"]
    command += ["--home", str(watched.home), "--warehouse", str(watched.warehouse)]
    environ = os.environ | {"XDG_CONFIG_HOME": str(watched.home / "config")}
    with subprocess.Popen(
        command,
        env=environ,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that runs the tests in the background ignores SIGINT for us.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        lines = [process.stderr.readline() for _ in range(2)]
        watched.write()
        lines.append(process.stderr.readline())
        process.send_signal(number)
        lines.append(process.stderr.read())
        assert process.wait(PATIENCE_S) == 0
    assert "watching 1 place" in lines[0]
    assert "claude_code 1 record of 1 stream" in lines[1]
    assert "after it was written" in lines[2]
    assert "stopped; what was loaded stays" in lines[3]
    with writing(watched.warehouse) as connection:
        rows = connection.execute("select sum(records) from meta.streams").fetchall()
    assert rows == [(2,)]
