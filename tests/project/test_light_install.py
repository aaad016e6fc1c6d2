"""The wheel, in an environment that has only what it cannot do without."""

import json
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from support.distributions import ROOT, build, tracked
from support.terminal import write_home

pytestmark = pytest.mark.slow

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]
FOLDERS = {
    f"{folder}/": f"{name.replace('.', '/')}/"
    for name, folder in SETTINGS["tool"]["setuptools"]["package-dir"].items()
}
NOT_FOR_USERS = ("fixtures/sources/", "fixtures/sql/", "fixtures/README.md")
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
def built(tmp_path_factory):
    """The sdist and the wheel."""
    return build(tmp_path_factory.mktemp("build"))


@pytest.fixture(scope="module")
def base(built, tmp_path_factory):
    """A folder of packages: the wheel, and what it needs without extras."""
    folder = tmp_path_factory.mktemp("base")
    with zipfile.ZipFile(built[1]) as wheel:
        wheel.extractall(folder)
    found: dict[str, Distribution] = {}
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


def for_users():
    """What is installed: every file of a package's folder, of fixtures the demo's."""
    for name in tracked():
        for folder, package in FOLDERS.items():
            if name.startswith(folder) and not name.startswith(NOT_FOR_USERS):
                yield name, package + name.removeprefix(folder)


def test_a_wheel_holds_the_packages_and_nothing_else(built):
    with zipfile.ZipFile(built[1]) as wheel:
        names = {it for it in wheel.namelist() if not it.endswith("/")}
        (entry,) = (it for it in names if it.endswith("/entry_points.txt"))
        assert "agentlake = agentlake.pipelines.cli:main" in wheel.read(entry).decode()
        licence = entry.replace("entry_points.txt", "licenses/LICENSE")
        assert licence in names
    ours = {it for it in names if ".dist-info/" not in it}
    assert ours == {installed for _, installed in for_users()}


def test_an_sdist_holds_what_the_wheel_is_built_from(built):
    with tarfile.open(built[0]) as packed:
        names = {it.name.partition("/")[2] for it in packed.getmembers() if it.isfile()}
    needed_to_build = {"pyproject.toml", "README.md", "LICENSE"}
    made_by_setuptools = {"PKG-INFO", "setup.cfg"}
    ours = {it for it in names if ".egg-info/" not in it} - made_by_setuptools
    assert ours == {name for name, _ in for_users()} | needed_to_build


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


def test_the_demo_is_in_the_wheel(base, home):
    done = run(base, home, "demo")
    assert done.returncode == 0, done.stderr
    assert "agentlake report model" in done.stdout + done.stderr
    assert "gpt-5.3-codex" in done.stdout


def test_the_ui_says_how_to_get_dagster(base, home):
    done = run(base, home, "ui")
    assert done.returncode == 2
    assert "pip install 'agentlake[ui]'" in done.stderr
    assert not (home / ".agentlake/dagster").exists()
