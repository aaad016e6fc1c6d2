"""An hour of agents that write, readers that ask, and kills: is every number right?

    python benchmarks/soak.py [--minutes 60] [--under ui|watch] [--seed 1]

A finished home (a generated one of Claude Code and Codex, and golden cases of all other
sources) is played back into an empty one (`playback.py`), while `agentlake ui` or
`agentlake watch` loads it and is killed every few minutes, whole or in part. Four kinds
of clients read the warehouse all the time. At the end the warehouse must hold what one
load of the finished home gives, and what its own full rebuild gives; else the exit code
is 1.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import dagster as dg
import duckdb
from dagster import DagsterRunStatus
from generate import generate
from playback import finish

import agentlake
from agentlake.fixtures import FIXTURES_DIR
from agentlake.pipelines.orchestration.runs import UNFINISHED

CASES = (
    "amp/ledger_and_messages",
    "antigravity/conversations",
    "cline_family/worked_example",
    "copilot_cli/transcript",
    "crush/projects",
    "cursor/editor",
    "droid/session",
    "gemini_cli/history_rewritten",
    "goose/ledger",
    "hermes/children",
    "kilo_cli/steps",
    "kimi/fork_of_a_fork",
    "kiro/database",
    "mistral_vibe/compaction_and_fork",
    "oh_my_pi/side_calls_and_subagents",
    "openclaw/who_speaks",
    "opencode/steps",
    "pi/worked_example",
    "qwen_code/worked_example",
    "vscode_copilot/log_of_changes",
    "warp/conversations",
    "zcode/ledger",
    "zed/threads",
)

COMPARED = {
    "usage": """
        select source, session_id, model, unit, count(*) as rows, sum(amount) as amount,
            sum(input_tokens) as input, sum(cache_read_tokens) as cache_read,
            sum(cache_write_tokens) as cache_write, sum(output_tokens) as output,
            round(sum(cost_usd), 6) as cost
        from core.usage group by all
    """,
    "messages": """
        select source, session_id, role, count(*) as rows
        from core.messages where not is_copied group by all
    """,
    "tool calls": """
        select source, session_id, name, status, count(*) as rows
        from core.tool_calls group by all
    """,
    "sessions": """
        select source, session_id, relation, count(*) as rows
        from core.sessions group by all
    """,
    "moments of usage": """
        select source, session_id, called_at, count(*) as rows
        from core.usage
        where not is_total and source not in ('droid', 'hermes') group by all
    """,
    "blocks": "select source, session_id, type, count(*) from core.blocks group by all",
    "sources": "select distinct source from core.sessions",
}
FORGOTTEN = """
import duckdb, sys
lake = duckdb.connect(sys.argv[1], read_only=True)
before = lake.execute(sys.argv[2]).fetchall()
input()
assert lake.execute(sys.argv[2]).fetchall() == before
"""
END_S = 900.0
"""So long may it take at the end until all is loaded."""
RAW = "select table_name from duckdb_tables() where database_name = 'live'"
RAW += " and schema_name = 'raw'"
DOUBLED = """
    select 2 * count(*) - count(distinct (stream_id, generation, seq))
        - count(distinct (stream_id, record_key))
    from live.raw.{} where stream_id in (
        select stream_id from live.meta.streams where reader = 'jsonl'
    )
"""
CALLS = "select coalesce(sum(calls), 0) from marts.daily_usage"


class Machine:
    """A user's machine: the folders, and what loads them."""

    def __init__(self, folder: Path, under: str) -> None:
        self.finished = folder / "finished"
        self.home = folder / "home"
        self.warehouse = folder / "lake.duckdb"
        self.state = folder / "dagster"
        self.log = folder / "log"
        self.under = under
        self.port = 0
        self.home.mkdir()

    def environ(self, home: Path, warehouse: Path) -> dict[str, str]:
        return os.environ | {
            "AGENTLAKE_HOME": str(home),
            "AGENTLAKE_WAREHOUSE": str(warehouse),
            "DAGSTER_HOME": str(self.state),
            "XDG_CONFIG_HOME": str(home / "no-config"),
        }

    def agentlake(self, *words: str, **more: Any) -> "subprocess.CompletedProcess[str]":
        """One command, on the live home if nothing else is said."""
        environ = self.environ(self.home, self.warehouse)
        return subprocess.run(
            [sys.executable, "-m", "agentlake", *words],
            **{"env": environ, "capture_output": True, "text": True, **more},
            check=False,
        )

    def start(self) -> None:
        words = ["watch"]
        if self.under == "ui":
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
            words = ["ui", "--port", str(self.port)]
        with self.log.open("a") as log:
            subprocess.Popen(
                [sys.executable, "-m", "agentlake", *words],
                env=self.environ(self.home, self.warehouse) | {"SOAK": "1"},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def processes(self) -> dict[int, str]:
        """All that load, by number, with their command lines."""
        mark = f"DAGSTER_HOME={self.state}\0".encode()
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                environ = Path(f"/proc/{pid}/environ").read_bytes()
                if mark in environ and b"SOAK=1\0" in environ:
                    command = Path(f"/proc/{pid}/cmdline").read_bytes()
                    found[int(pid)] = command.replace(b"\0", b" ").decode()
        return found

    def kill(self) -> None:
        """As a power cut does."""
        while found := self.processes():
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)

    def worker(self) -> int | None:
        """The process of the run that is going on."""
        for run in self.runs([DagsterRunStatus.STARTED]):
            for pid, command in self.processes().items():
                if run in command or "spawn_main" in command:
                    return pid
        return None

    def runs(self, statuses: list[DagsterRunStatus]) -> list[str]:
        with dg.DagsterInstance.from_config(str(self.state)) as instance:
            found = instance.get_runs(dg.RunsFilter(statuses=statuses))
        return [run.run_id for run in found]

    def reload(self) -> None:
        """Load the code location again, as a click in the page does."""
        query = "mutation { reloadWorkspace { __typename } }"
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/graphql",
            json.dumps({"query": query}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert b'"Workspace"' in answer.read()


class Readers:
    """Clients that never stop asking; what went wrong with them."""

    def __init__(self, machine: Machine) -> None:
        self.wrong: list[str] = []
        self.asked: Counter[str] = Counter()
        self._machine = machine
        self._ends = threading.Event()
        self._calls = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """From when there is something to read."""
        while not self._machine.warehouse.exists():
            time.sleep(0.2)
        threads = [
            threading.Thread(target=self._repeat, args=(what, act, every))
            for what, act, every in (
                ("duckdb", self._duckdb, 0.5),
                ("polars", self._polars, 5.0),
                ("agentlake sql", self._command, 20.0),
            )
        ]
        # Somebody's notebook, left open.
        words = [sys.executable, "-c", FORGOTTEN, self._machine.warehouse, CALLS]
        with subprocess.Popen(words, stdin=subprocess.PIPE) as forgotten:
            for thread in threads:
                thread.start()
            try:
                yield
            finally:
                self._ends.set()
                for thread in threads:
                    thread.join()
            forgotten.communicate(b"\n")
        if forgotten.returncode:
            self.wrong.append("the notebook that was left open is broken")

    def _repeat(self, what: str, act: Callable[[], None], every: float) -> None:
        while not self._ends.wait(every):
            self.asked[what] += 1
            try:
                act()
            except Exception as error:  # noqa: BLE001 - any is one too many
                self.wrong.append(f"{time.strftime('%H:%M:%S')} {what}: {error!r}")

    def _duckdb(self) -> None:
        with duckdb.connect(str(self._machine.warehouse), read_only=True) as lake:
            ((calls,),) = lake.execute(CALLS).fetchall()
        if calls < self._calls:
            msg = f"{calls} calls after {self._calls}"
            raise AssertionError(msg)
        self._calls = calls

    def _polars(self) -> None:
        agentlake.open(self._machine.warehouse).daily_usage()

    def _command(self) -> None:
        done = self._machine.agentlake("sql", "from core.usage limit 5")
        if done.returncode:
            raise AssertionError(done.stderr)


def prepare(finished: Path, megabytes: int, seed: int) -> None:
    """A home as it will be in an hour."""
    with tempfile.TemporaryDirectory() as made:
        generate(Path(made), megabytes, seed)
        shutil.copytree(Path(made, "home"), finished)
    for case in CASES:
        home = FIXTURES_DIR / "sources" / case / "home"
        shutil.copytree(home, finished, dirs_exist_ok=True)


def kills(machine: Machine, ends: Callable[[], bool], rng: Random) -> Iterator[str]:
    """Every few minutes something dies; what it was."""
    while True:
        until = time.monotonic() + rng.uniform(60, 240)
        while time.monotonic() < until:
            if ends():
                return
            time.sleep(0.5)
        what = rng.choice(["all", "all", "one", "run", "reload"])
        if machine.under != "ui":
            what = "all"
        if what == "reload":
            machine.reload()
        elif what == "run":
            while (pid := machine.worker()) is None and not ends():
                time.sleep(0.05)
            time.sleep(rng.uniform(0, 4))
            with suppress(ProcessLookupError, TypeError):
                os.kill(pid, signal.SIGKILL)  # type: ignore[arg-type]
        else:
            if what == "one":  # the daemon, the page, a server of code ...
                pid, command = rng.choice([*machine.processes().items()])
                what = f"one: {command[-60:]}"
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                time.sleep(5)
            machine.kill()
            time.sleep(rng.uniform(0, 20))
            machine.start()
        yield what


def is_idle(machine: Machine) -> bool:
    """Whether all is loaded: a load by hand would find nothing, and no run goes on."""
    if machine.under == "ui" and machine.runs(UNFINISHED):
        return False
    before = machine.warehouse.stat()
    time.sleep(25)
    after = machine.warehouse.stat()
    same = (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    return same and not (machine.under == "ui" and machine.runs(UNFINISHED))


def differences(machine: Machine, expected: Path) -> list[str]:
    """What the warehouse says otherwise than the one that was loaded at once."""
    found = []
    with duckdb.connect() as both:
        for name, path in (("live", machine.warehouse), ("whole", expected)):
            both.execute(f"attach '{path}' as {name} (read_only)")
        for (table,) in both.execute(RAW).fetchall():
            ((doubled,),) = both.execute(DOUBLED.format(table)).fetchall()
            if doubled:
                found.append(f"raw.{table}: {doubled} lines stand twice")
        for what, query in COMPARED.items():
            rows = {}
            for name in ("live", "whole"):
                both.execute(f"use {name}")
                rows[name] = {str(row) for row in both.execute(query).fetchall()}
            if what == "sources":
                asked = {case.partition("/")[0] for case in CASES}
                assert len(rows["whole"]) == len(asked) + 2, rows["whole"]
            print(f"{what}: {len(rows['whole']):,} groups", flush=True)
            found += [
                f"{what}: only live {row}" for row in rows["live"] - rows["whole"]
            ]
            found += [f"{what}: missing {row}" for row in rows["whole"] - rows["live"]]
    return sorted(found)


def soak(folder: Path, minutes: float, under: str, megabytes: int, seed: int) -> bool:
    """Whether all came out right."""
    machine = Machine(folder, under)
    prepare(machine.finished, megabytes, seed)
    at_once = folder / "at_once"
    finish(machine.finished, at_once)
    script = Path(__file__).with_name("playback.py")
    told = ["--seconds", str(60 * minutes), "--seed", str(seed)]
    player = subprocess.Popen(
        [sys.executable, script, machine.finished, machine.home, *told]
    )
    machine.start()
    readers = Readers(machine)
    died: Counter[str] = Counter()
    try:
        with readers.running():
            for what in kills(machine, lambda: player.poll() is not None, Random(seed)):
                died[what.partition(":")[0]] += 1
                print(f"{time.strftime('%H:%M:%S')} died: {what}", flush=True)
            until = time.monotonic() + END_S
            while not is_idle(machine) and time.monotonic() < until:
                pass
    finally:
        player.kill()
        machine.kill()
    verified = machine.agentlake("verify")
    expected = folder / "expected.duckdb"
    loaded = machine.agentlake("load", env=machine.environ(at_once, expected))
    wrong = [*readers.wrong, *differences(machine, expected)]
    if loaded.returncode:
        wrong.append(loaded.stderr)
    if verified.returncode:
        wrong.append(verified.stdout + verified.stderr)
    print(f"died {dict(died)}, asked {dict(readers.asked)}; {len(wrong)} wrong")
    print("\n".join(wrong[:60]))
    return not wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--under", choices=("ui", "watch"), default="ui")
    parser.add_argument("--megabytes", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="agentlake-soak-"))
    print(f"all of it is in {folder}", flush=True)
    is_right = soak(folder, args.minutes, args.under, args.megabytes, args.seed)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
