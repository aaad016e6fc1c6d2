"""The command line in an environment that has only what it cannot do without."""

import json
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from support.terminal import write_home

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RUN = """
import site, sys
site.addsitedir(sys.argv[1])
from agentlake.pipelines.cli import main
sys.exit(main(sys.argv[2:]))
"""


def needed(requirement: Requirement, found: dict[str, Distribution]) -> None:
    """The distribution and all that it needs, extras only where they are asked for."""
    try:
        of = distribution(requirement.name)
    except PackageNotFoundError:  # for another version of Python, or another system
        return
    known = of.name in found
    found[of.name] = of
    if known and not requirement.extras:
        return
    for text in of.requires or ():
        inner = Requirement(text)
        extras = requirement.extras or {""}
        if inner.marker is None or any(
            inner.marker.evaluate({"extra": extra}) for extra in extras | {""}
        ):
            needed(inner, found)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A folder of packages: agentlake without extras, and what it needs."""
    folder = tmp_path_factory.mktemp("base")
    found = {"agentlake": distribution("agentlake")}
    for text in PROJECT["dependencies"]:
        needed(Requirement(text), found)
    for one in found.values():
        for file in one.files or ():
            top = file.parts[0]
            place = Path(one.locate_file(top))
            if top != ".." and place.exists() and not (folder / top).exists():
                (folder / top).symlink_to(place)
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    write_home(home)
    return home


def run(base, home, *words):
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", RUN, str(base), *words],
        env={"HOME": str(home), "PATH": "", "TZ": "UTC"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_base_has_neither_dagster_nor_marimo(base):
    names = {path.name for path in base.iterdir()}
    assert {"duckdb", "polars", "pandera"} <= names
    assert not {"dagster", "dagster_webserver", "marimo", "altair"} & names


def test_load_report_sql_doctor_and_verify_need_no_more(base, home):
    loaded = run(base, home, "load", "--json")
    assert loaded.returncode == 0, loaded.stderr
    assert json.loads(loaded.stdout)["sources"]
    calls = "select count(*) as calls from core.usage"
    for words, said in (
        (("report", "daily"), "2026-11-30"),
        (("sql", calls, "--format", "csv"), "3"),
        (("doctor",), "claude_code"),
        (("verify",), " checks, 0 of them failing"),
    ):
        done = run(base, home, *words)
        assert done.returncode == 0, done.stderr
        assert said in done.stdout


def test_the_ui_says_how_to_get_dagster(base, home):
    done = run(base, home, "ui")
    assert done.returncode == 2
    assert "pip install 'agentlake[ui]'" in done.stderr
    assert not (home / ".agentlake/dagster").exists()
