"""The docs say what the code says: pages, links, the notebook and the commands."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentlake.adapters.registry import BUILT_IN
from agentlake.pipelines.transform.sql_models import models

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def pages():
    return module(DOCS / "pages.py")


@pytest.fixture(scope="module")
def warehouse(pages, tmp_path_factory):
    return pages.demo(tmp_path_factory.mktemp("docs"))


@pytest.mark.parametrize(
    "name", ["sources", "tables", "queries", "commands", "../README"]
)
def test_a_page_that_is_made_from_the_code_is_current(name, pages):
    made = getattr(pages, name.removeprefix("../").lower())()
    assert (DOCS / f"{name}.md").read_text() == made, "run `make pages`"


def test_the_picture_of_the_models_is_current():
    chain = module(DOCS / "chain.py")
    assert chain.PICTURE.read_text() == chain.picture(), "run `make pages`"
    lanes = {chain.lane_of(model) for model in models().values()}
    assert lanes == set(chain.LANES)


def test_twenty_queries_find_something(pages, warehouse):
    files = sorted((DOCS / "queries").glob("*.sql"))
    assert len(files) == 20
    for file in files:
        output = pages.printed(["sql", "-f", str(file)], warehouse)
        assert len(output.splitlines()) > 1, file.name


def test_a_source_that_does_not_say_what_is_missing_has_no_page(pages):
    class Silent:
        __doc__ = "Acme: a file.\n\nWhere: ~/.acme\nSeen: 1.0\n"

    with pytest.raises(ValueError, match="acme: its docstring has no Missing"):
        pages.described("acme", Silent)


def test_every_source_is_on_its_page():
    text = (DOCS / "sources.md").read_text()
    assert [name for name in BUILT_IN if f"\n## {name}\n" not in text] == []


def test_the_site_builds_without_a_broken_link(tmp_path):
    words = ["mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    environ = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "sources/index.html").read_text()
    assert "claude_code" in page
    asked = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)', page)
    assert asked == []  # a page asks no other machine for anything


def test_the_notebook_draws_the_demo(warehouse):
    """All cells run in a process of their own; each picture has its rows in it."""
    code = f"""
import sys

import polars as pl
import vl_convert

sys.path.insert(0, {str(ROOT / "notebooks")!r})
import usage

_, found = usage.app.run()
for name, chart in sorted(found.items()):
    if name.endswith("_chart"):
        svg = vl_convert.vegalite_to_svg(chart.to_json())
        marks = svg.count("<path") + svg.count("<rect")
        print(name, marks > 20 and "undefined" not in svg and "NaN" not in svg)
haiku = "claude-haiku-4-5-20251001"  # the list's price of it is the one shown first
row = found["what_if"].row(by_predicate=pl.col("model") == haiku)
print(*(round(cost, 6) for cost in row[1:]))
"""
    environ = {
        **os.environ,
        "AGENTLAKE_WAREHOUSE": str(warehouse),
        "AGENTLAKE_CONFIG": str(warehouse.parent / "config.toml"),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    *charts, same_model = done.stdout.splitlines()
    assert charts == [
        f"{name}_chart True"
        for name in (
            "cache",
            "sessions",
            "spend",
            "tokens",
            "tools",
            "what_if",
            "windows",
        )
    ]
    # A model at its own prices costs what it did.
    assert same_model == "0.125999 0.125999"


def test_the_notebook_starts_as_a_script(warehouse):
    done = subprocess.run(
        [sys.executable, ROOT / "notebooks/usage.py", "--warehouse", warehouse],
        env={**os.environ, "AGENTLAKE_CONFIG": str(warehouse.parent / "config.toml")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
