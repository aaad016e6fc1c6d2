"""Dagster's pages after a run of the sensor: fresh, checked, seen in a browser."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

import pytest
from support.browser import browser_page
from support.servers import PATIENCE_S, free_port, served

from agentlake.fixtures import FIXTURES_DIR
from agentlake.pipelines.cli.ui import DAGSTER_YAML

pytestmark = pytest.mark.slow

RUNS = "{runsOrError{... on Runs{results{status tags{key value}}}}}"
ASSETS = """{assetNodes{assetKey{path} staleStatus freshnessStatusInfo{freshnessStatus}
    assetChecksOrError{... on AssetChecks{checks{
        name executionForLatestMaterialization{status}}}}}}"""
LOCATIONS = "{repositoriesOrError{... on RepositoryConnection{nodes{location{name}}}}}"


def ask(url, query):
    request = urllib.request.Request(
        f"{url}/graphql",
        data=json.dumps({"query": query}).encode(),
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["data"]


def waited(until):
    end = time.monotonic() + PATIENCE_S
    while not (found := until()):
        assert time.monotonic() < end
        time.sleep(0.5)
    return found


def reasons(url, number):
    """Why each of so many runs was started, once all of them came through."""
    runs = waited(
        lambda: (
            len(found := ask(url, RUNS)["runsOrError"]["results"]) == number
            and {run["status"] for run in found} == {"SUCCESS"}
            and found
        )
    )
    return [{tag["key"]: tag["value"] for tag in run["tags"]} for run in runs]


def test_after_a_run_of_the_sensor_all_is_fresh_and_checked(tmp_path):
    home = tmp_path / "home"
    shutil.copytree(FIXTURES_DIR / "demo/home", home, copy_function=shutil.copy)
    with served(tmp_path, home, tmp_path / "lake.duckdb", "ui") as url:
        (first,) = reasons(url, 1)
        assert first["agentlake/why"] == "first run: everything"
        with min(home.glob(".claude/projects/*/*.jsonl")).open("a") as file:
            file.write('{"type":"summary","summary":"Done","leafUuid":"1"}\n')
        second, _ = reasons(url, 2)
        assert second["agentlake/why"] == "claude_code (1 stream) changed"
        assert not any("ui" in name for name in second)  # no number of a process
        nodes = ask(url, ASSETS)["assetNodes"]
        late = {"/".join(one["assetKey"]["path"]): one["staleStatus"] for one in nodes}
        assert set(late.values()) == {"FRESH"}
        states = {
            check["executionForLatestMaterialization"]["status"]
            for one in nodes
            for check in one["assetChecksOrError"]["checks"]
        }
        assert states == {"SUCCEEDED"}
        (location,) = ask(url, LOCATIONS)["repositoriesOrError"]["nodes"]
        assert location["location"]["name"] == "agentlake"
        with browser_page() as page:
            page.goto(f"{url}/asset-groups")
            for group in ("raw", "staging", "core", "marts", "steps"):
                page.wait_for_selector(f"text={group}", timeout=120_000)
            page.goto(f"{url}/assets/core/usage?view=checks")
            page.wait_for_selector("text=not_null_session_id", timeout=120_000)
            assert page.locator("text=Not evaluated").count() == 0
            page.goto(f"{url}/assets/marts/daily_usage")
            page.wait_for_selector("text=Freshness policy", timeout=120_000)


def test_the_plain_way_of_dagster_finds_the_definitions(tmp_path):
    port = free_port()
    shutil.copy(DAGSTER_YAML, tmp_path)
    (tmp_path / "home").mkdir()
    environ = os.environ | {
        "AGENTLAKE_HOME": str(tmp_path / "home"),
        "AGENTLAKE_WAREHOUSE": str(tmp_path / "lake.duckdb"),
        "DAGSTER_HOME": str(tmp_path),
    }
    module = "agentlake.pipelines.definitions"
    command = [sys.executable, "-m", "dagster", "dev", "-m", module, "-p", str(port)]

    def locations():
        try:
            found = ask(f"http://127.0.0.1:{port}", LOCATIONS)
        except OSError:
            return None
        return found["repositoriesOrError"].get("nodes")

    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            command, env=environ, stdout=log, stderr=log, start_new_session=True
        )
    try:
        assert [one["location"]["name"] for one in waited(locations)] == [module]
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
