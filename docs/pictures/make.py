"""Make the pictures of the Dagster pages: `.venv/bin/python docs/pictures/make.py`.

Starts `agentlake ui` on an invented developer's home, in a throw-away folder, lets the
sensor load it, and photographs the pages with a headless Chromium at two sizes. Needs
`chromium` on the PATH. Look at what came out before committing it.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
from dagster import DagsterRunStatus

from agentlake.fixtures import FIXTURES_DIR

HERE = Path(__file__).parent
LOCATION = "__repository__@agentlake.pipelines.definitions"
PAGES = {
    "lineage": "asset-groups/",
    "asset": "assets/core/usage?view=overview",
    "checks": "assets/core/usage?view=checks",
    "source": "assets/raw/codex?view=overview",
    "sensor": f"locations/{LOCATION}/sensors/files",
    "schedules": "automation",
    "runs": "runs",
}
SIZES = {"": (1600, 1000), "-small": (1100, 750)}
PATIENCE_S = 600


@contextmanager
def ui(folder: Path):
    """Dagster on the demo's home; its address, once everything is loaded."""
    home, state = folder / "home", folder / "dagster"
    shutil.copytree(FIXTURES_DIR / "demo/home", home, copy_function=shutil.copy)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environ = os.environ | {
        "AGENTLAKE_HOME": str(home),
        "AGENTLAKE_WAREHOUSE": str(folder / "agentlake.duckdb"),
        "DAGSTER_HOME": str(state),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    command = [sys.executable, "-m", "agentlake", "ui", "--port", str(port)]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, env=environ, stdout=log, stderr=log)
    try:
        wait_for_run(state)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def wait_for_run(state: Path) -> None:
    """Until the sensor's first run is done."""
    end = time.monotonic() + PATIENCE_S
    done = dg.RunsFilter(statuses=[DagsterRunStatus.SUCCESS])
    while time.monotonic() < end:
        time.sleep(5)
        if (state / "history").exists():
            with dg.DagsterInstance.from_config(str(state)) as instance:
                if instance.get_runs(done, limit=1):
                    return
    sys.exit(f"no run came through within {PATIENCE_S} s")


def photograph(url: str, to: Path, size: tuple[int, int], profile: Path) -> None:
    command = ["chromium", "--headless=new", "--no-sandbox", "--hide-scrollbars"]
    command += [f"--user-data-dir={profile}", "--force-device-scale-factor=1"]
    command += [f"--window-size={size[0]},{size[1]}", "--virtual-time-budget=60000"]
    subprocess.run(
        [*command, f"--screenshot={to}", url],
        check=True,
        capture_output=True,
        timeout=300,
    )


def main() -> None:
    wanted = sys.argv[1:] or list(PAGES)
    with tempfile.TemporaryDirectory() as folder, ui(Path(folder)) as address:
        for name in wanted:
            for tail, size in SIZES.items():
                to = HERE / f"ui-{name}{tail}.png"
                photograph(
                    f"{address}/{PAGES[name]}", to, size, Path(folder, "chromium")
                )
                sys.stderr.write(f"{to}\n")


if __name__ == "__main__":
    main()
