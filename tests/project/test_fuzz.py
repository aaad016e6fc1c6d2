"""The fuzz of all sources, for a moment: by hand it goes on as long as one likes."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fuzz.py"


@pytest.mark.slow
def test_a_few_spoiled_homes_are_read_as_far_as_they_can_be():
    asked = ["--homes", "400", "--load-every", "200", "--seed", "11"]
    done = subprocess.run(
        [sys.executable, SCRIPT, *asked], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
