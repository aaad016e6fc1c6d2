"""Run a process to its end, and say how long it took and what memory it held."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from agentlake.pipelines.warehouse.files import vault_of


class Row(msgspec.Struct, frozen=True):
    """One line of the result: what was measured, against which bar."""

    what: str
    measured: str
    bar: str
    is_met: bool | None = None


class Run(msgspec.Struct, frozen=True):
    """One finished process."""

    seconds: float
    peak_mb: float
    output: str


def agentlake(lake: Path, *arguments: str) -> Run:
    """One command, as a user starts it."""
    command = [sys.executable, "-m", "agentlake", *arguments, "--warehouse", str(lake)]
    return process(command)


def process(command: Sequence[str], given: str = "") -> Run:
    """Run to the end; raises when it fails."""
    start = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdin is not None and running.stdout is not None
        running.stdin.write(given)
        running.stdin.close()
        output = running.stdout.read()
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise subprocess.CalledProcessError(running.returncode, command, output)
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Run(time.perf_counter() - start, peak / 1e6, output)


def forget(lake: Path) -> None:
    """Let the next load begin from nothing."""
    for path in (lake, vault_of(lake)):
        path.unlink(missing_ok=True)


def say(text: str) -> None:
    """Say on stderr what is done now."""
    print(text, file=sys.stderr)
