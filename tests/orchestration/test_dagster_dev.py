"""A real `agentlake ui`, with appends, kills and restarts: nothing is ever lost."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import dagster as dg
import duckdb
import pytest
from dagster import DagsterEventType, DagsterRunStatus

from agentlake.fixtures import FIXTURES_DIR
from agentlake.pipelines.warehouse.connect import writing

pytestmark = pytest.mark.slow
PATIENCE_S = 240.0  # for machines that do something else as well
CALLS = "select coalesce(sum(calls), 0) from marts.daily_usage"


class Desktop:
    """A user's machine: agents that write, and Dagster in the background."""

    def __init__(self, folder):
        self.home = folder / "home"
        self.warehouse = folder / "lake.duckdb"
        self.state = folder / "dagster"
        self.log = folder / "log"
        shutil.copytree(FIXTURES_DIR / "sources/claude_code/block_rows/home", self.home)
        self.file = self.home / ".claude/projects/-home-ada-shop/live.jsonl"
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.written = 0

    def write(self):
        """One more call of a model."""
        self.written += 1
        message = {
            "id": f"msg_{self.written}",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": [{"type": "text", "text": "done"}],
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }
        line = {
            "type": "assistant",
            "uuid": f"u{self.written}",
            "requestId": f"r{self.written}",
            "sessionId": "live",
            "timestamp": "2026-11-30T10:00:00.000Z",
            "message": message,
        }
        with self.file.open("a") as file:
            file.write(json.dumps(line) + "\n")

    @contextmanager
    def ui(self):
        """`agentlake ui`, killed at the end with all its children."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, "-m", "agentlake", "ui", "--port", str(port)]
        environ = os.environ | {
            "AGENTLAKE_HOME": str(self.home),
            "AGENTLAKE_WAREHOUSE": str(self.warehouse),
            "DAGSTER_HOME": str(self.state),
            "XDG_CONFIG_HOME": str(self.home / "config"),
        }
        with self.log.open("a") as log:
            process = subprocess.Popen(
                command, env=environ, stdout=log, stderr=log, start_new_session=True
            )
        try:
            yield
        finally:
            self.kill()
            process.wait()

    def kill(self):
        """As a power cut does."""
        while found := self.processes():
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)

    def processes(self):
        """Every process that works for this DAGSTER_HOME."""
        mark = f"DAGSTER_HOME={self.state}\0".encode()
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                environ = Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            if mark in environ:
                found.append(int(pid))
        return found

    def calls(self):
        try:
            with duckdb.connect(str(self.warehouse), read_only=True) as connection:
                return connection.execute(CALLS).fetchall()[0][0]
        except duckdb.Error:
            return -1  # not there yet, or a run holds it

    def waits_for_calls(self, number):
        return self.waits(lambda: self.calls() == number)

    def waits(self, until):
        """How long it took."""
        began = time.monotonic()
        while not (found := until()):
            if time.monotonic() > began + PATIENCE_S:
                pytest.fail(self.log.read_text()[-3000:])
            time.sleep(0.2)
        return found, time.monotonic() - began

    def worker(self):
        """The process of the run that is going on."""
        with dg.DagsterInstance.from_config(str(self.state)) as instance:
            going_on = dg.RunsFilter(statuses=[DagsterRunStatus.STARTED])
            for run in instance.get_runs(going_on):
                for one in instance.get_records_for_run(
                    run.run_id, of_type=DagsterEventType.RUN_START
                ).records:
                    return one.event_log_entry.dagster_event.pid
        return None


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
def test_whatever_is_killed_every_line_comes_to_the_marts(tmp_path, capsys):
    desktop = Desktop(tmp_path)
    with desktop.ui():
        desktop.waits(lambda: desktop.calls() > 0)
        first = desktop.calls()
        desktop.write()
        _, took = desktop.waits_for_calls(first + 1)
        with capsys.disabled():
            sys.stderr.write(f"a line was in the marts after {took:.1f} s\n")

        with writing(desktop.warehouse, wait_s=30):  # the run waits for us
            desktop.write()
            pid, _ = desktop.waits(desktop.worker)
            os.kill(pid, signal.SIGKILL)
        desktop.waits_for_calls(first + 2)  # by another run

        with writing(desktop.warehouse, wait_s=30):
            desktop.write()
            desktop.waits(desktop.worker)
            desktop.kill()
    desktop.write()  # nobody looks
    with desktop.ui():
        desktop.waits_for_calls(first + 4)
