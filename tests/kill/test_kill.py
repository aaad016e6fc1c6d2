"""Whenever a load is killed, the next completes it: nothing lost, nothing doubled."""

import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from support.transcripts import lines, rollout
from support.warehouses import is_consistent, same

pytestmark = pytest.mark.slow

LEAST, MOST = 6, 25
SECONDS = 8


# It has imported everything before it forks: a round costs what a load costs.
NURSERY = """
import os, signal, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from agentlake.adapters.sdk.readers import jsonl
from agentlake.pipelines.ingest import write
import agentlake.pipelines.warehouse.insert
from support.warehouses import ScratchLake
write.COMMIT_BYTES = 100_000
jsonl.read.__kwdefaults__["chunk"] = 50_000
print("ready", flush=True)
for line in sys.stdin:
    warehouse, home, seconds = line.rstrip("\\n").split("\\t")
    if child := os.fork():
        end = time.monotonic() + float(seconds)
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.001)
        print(os.waitstatus_to_exitcode(ended[1]), flush=True)
        continue
    try:
        lake = ScratchLake(Path(warehouse), Path(home))
        lake.load()
        lake.close()
    except BaseException as error:
        print(repr(error), file=sys.stderr)
        os._exit(1)
    os._exit(0)
"""


class Nursery:
    """Starts loads as processes of their own, to be killed."""

    def __init__(self, process):
        self._process = process

    def run(self, lake, *, kill_after=60):
        """The exit code of one load, which is killed if it takes longer."""
        self._process.stdin.write(f"{lake.path}\t{lake.home}\t{kill_after}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def nursery(folder):
    with subprocess.Popen(
        [sys.executable, "-c", NURSERY, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        yield Nursery(process)
        process.stdin.close()


def write_home(home, order):
    """About 2 MB: sessions of all sizes, some of which repeat others, and threads."""
    projects = home / ".claude/projects/-x"
    sessions = home / ".codex/sessions/2026/01/01"
    for folder in (projects, sessions):
        folder.mkdir(parents=True)
    first = 0
    for number in range(40):
        count = int(order.paretovariate(0.8) * 4) % 900
        start = max(0, first - order.choice([0, 0, 5]))
        session = f"aaaaaaaa-0000-4000-8000-{number:012}"
        data = lines(*range(start, first + count), sessionId=session)
        (projects / f"{session}.jsonl").write_bytes(data + b'{"torn')
        first += count
    for number in range(10):
        thread = f"019b0000-0000-7000-8000-{number:012}"
        name = f"rollout-2026-01-01T00-00-00-{thread}.jsonl"
        data = rollout(order.randrange(5, 300), thread=thread)
        (sessions / name).write_bytes(data)


def test_a_load_that_is_killed_at_any_instant_is_completed_by_the_next(
    new_lake, tmp_path, request
):
    order = random.Random(7)
    home = tmp_path / "home"
    write_home(home, order)
    kinds = ("raw", "staging", "core")
    undisturbed = new_lake(home)
    kills = 0
    with nursery(request.path.parents[1]) as children:
        start = time.monotonic()
        assert children.run(undisturbed) == 0
        takes = time.monotonic() - start
        right = undisturbed.all(*kinds, without=("load_id",))
        lake = new_lake(home)
        while kills < LEAST or (kills < MOST and time.monotonic() < start + SECONDS):
            code = children.run(lake, kill_after=order.uniform(0, takes))
            assert code in (0, -signal.SIGKILL)
            kills += code != 0
            if code == 0:
                same(lake.all(*kinds, without=("load_id",)), right)
                lake = new_lake(home)
            elif kills % 5 == 0:
                is_consistent(lake)
                lake.close()
        assert children.run(lake) == 0
    is_consistent(lake)
    same(lake.all(*kinds, without=("load_id",)), right)
    assert not lake.load().wrote
