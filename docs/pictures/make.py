"""Make the pictures of the Dagster pages: `.venv/bin/python docs/pictures/make.py`.

Starts `agentlake ui` on an invented developer's home, in a throw-away folder, lets the
sensor load it, lets an agent write once more, runs all checks, and photographs the
pages with a headless Chromium at two sizes. Needs `chromium` on the PATH. Names of
pictures as arguments make those alone. Look at what came out before committing it.
"""

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from dagster import DagsterRunStatus
from websockets.sync.client import ClientConnection, connect

from agentlake.fixtures import FIXTURES_DIR

HERE = Path(__file__).parent
LOCATION = "__repository__@agentlake"
PAGES = {
    "lineage": "asset-groups/?expanded=global@global:core",
    "neighbours": "assets/core/usage?view=lineage",
    "asset": "assets/core/usage?view=overview",
    "checks": "assets/core/usage?view=checks",
    "source": "assets/raw/claude_code?view=overview",
    "sensor": f"locations/{LOCATION}/sensors/files",
    "automation": "automation",
    "runs": "runs",
}
SIZES = {"": (1600, 1000), "-small": (1100, 750)}
PATIENCE_S = 600
SETTLED_S = 10.0


@contextmanager
def ui(folder: Path) -> Iterator[str]:
    """Dagster on the demo's home; its address, once it has something to show."""
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
        wait_for_runs(state, 1)
        with min(home.glob(".claude/projects/*/*.jsonl")).open("a") as file:
            file.write('{"type":"summary","summary":"Done","leafUuid":"1"}\n')
        wait_for_runs(state, 2)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def wait_for_runs(state: Path, count: int) -> None:
    """Until so many runs came through."""
    done = dg.RunsFilter(statuses=[DagsterRunStatus.SUCCESS])

    def enough() -> bool:
        if not (state / "history").exists():
            return False
        with dg.DagsterInstance.from_config(str(state)) as instance:
            return len(instance.get_runs(done, limit=count)) >= count

    wait_until(enough, f"{count} runs that came through")


def wait_until(it: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not it():
        if time.monotonic() > end:
            sys.exit(f"no {what} within {PATIENCE_S} s")
        time.sleep(1)


class Browser:
    """One page of a headless Chromium, by its own protocol.

    Its `--screenshot` waits for a page that does nothing, which Dagster's never is.
    """

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._number = 0

    def do(self, method: str, **params: Any) -> dict[str, Any]:
        """Do it, and say what came of it."""
        self._number += 1
        self._socket.send(
            json.dumps({"id": self._number, "method": method, "params": params})
        )
        while True:
            answer = json.loads(self._socket.recv(timeout=60))
            if answer.get("id") == self._number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return dict(answer["result"])

    def photograph(self, url: str, to: Path, size: tuple[int, int]) -> None:
        """What the page looks like once it has settled."""
        width, height = size
        self.do(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.do("Page.navigate", url=url)
        time.sleep(SETTLED_S)
        taken = self.do("Page.captureScreenshot", format="png")
        to.write_bytes(base64.b64decode(taken["data"]))


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A Chromium that ends with the block."""
    command = ["chromium", "--headless=new", "--no-sandbox", "--hide-scrollbars"]
    command += [f"--user-data-dir={profile}", "--remote-debugging-port=0"]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    told = profile / "DevToolsActivePort"
    try:
        wait_until(lambda: told.exists() and told.read_text().count("\n"), "chromium")
        port, path = told.read_text().split()
        with connect(f"ws://127.0.0.1:{port}{path}", max_size=None) as socket:
            page = Browser(socket).do("Target.createTarget", url="about:blank")
        address = f"ws://127.0.0.1:{port}/devtools/page/{page['targetId']}"
        with connect(address, max_size=None) as socket:
            yield Browser(socket)
    finally:
        process.terminate()
        process.wait(60)


def main() -> None:
    wanted = sys.argv[1:] or list(PAGES)
    with (
        tempfile.TemporaryDirectory() as folder,
        ui(Path(folder)) as address,
        browser(Path(folder, "chromium")) as page,
    ):
        for name in wanted:
            for tail, size in SIZES.items():
                to = HERE / f"ui-{name}{tail}.png"
                page.photograph(f"{address}/{PAGES[name]}", to, size)
                sys.stderr.write(f"{to}\n")


if __name__ == "__main__":
    main()
