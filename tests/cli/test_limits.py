"""Limits of a query hold for all of the process, not for DuckDB alone."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

# What goes on after the query was interrupted: in Python, or in what does not listen.
DEAF = {
    "printing": "while True: pass",
    "sleeping": "import time; time.sleep(60)",
}
SCRIPT = """
import sys
from pathlib import Path
from agentlake.pipelines.warehouse.sandbox import sandbox
with sandbox(Path(sys.argv[1]), "UTC", seconds=0.5) as connection:
    {deaf}
"""


@pytest.mark.parametrize("deaf", DEAF)
def test_what_does_not_listen_ends_soon_after_its_time(deaf, empty_warehouse):
    script = SCRIPT.format(deaf=DEAF[deaf])
    done = subprocess.run(
        [sys.executable, "-c", script, str(empty_warehouse)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert "stopped after 0 s" in done.stderr or "stopped after 1 s" in done.stderr


def test_memory_that_duckdb_does_not_count_is_limited_too(empty_warehouse):
    script = SCRIPT.format(deaf="bytes = bytearray(8 << 30)")
    done = subprocess.run(
        [sys.executable, "-c", script, str(empty_warehouse)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert "UserError: the query was stopped: it needs more than 1 GB" in done.stderr
