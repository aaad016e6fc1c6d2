"""What a person sees of prices: the rates over time, and what others would change."""

import json

import pytest

from agentlake.fixtures import FIXTURES_DIR
from agentlake.pipelines.cli.app import main
from agentlake.pipelines.settings.settings import load_settings
from agentlake.pipelines.sync import sync

HOME = FIXTURES_DIR / "sources" / "claude_code" / "prices" / "home"


@pytest.fixture(scope="module")
def environ(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prices")
    environ = {
        "HOME": str(folder),
        "TZ": "UTC",
        "AGENTLAKE_HOME": str(HOME),
        "AGENTLAKE_WAREHOUSE": str(folder / "lake.duckdb"),
    }
    settings = load_settings(
        config=None,
        home=HOME,
        warehouse=folder / "lake.duckdb",
        environ=environ,
        known_sources=("claude_code",),
    )
    sync(settings, environ=environ)
    return environ


@pytest.fixture
def said(environ, capsys):
    def ask(*words):
        assert main(["prices", *words], environ) == 0
        return capsys.readouterr().out

    return ask


def test_the_rates_of_a_model_are_shown_over_time_with_where_they_come_from(said):
    text = said("claude-opus-4-6")
    assert "tier fast" in text
    assert "tier standard" in text
    assert "2026-03-13 00:00  now" in text
    assert "overlay: https://platform.claude.com/docs/" in text
    assert "genai-prices" in text


def test_a_model_that_was_never_used_is_shown_as_it_is_named(said):
    text = said("deepseek-v4-pro", "--source", "claude_code")
    assert "assumed: the vendor is known only from the model's name" in text
    assert "Mo,Tu,We,Th,Fr 01:00-04:00" in text
    assert "no price: the name says no model" in said("opus", "--source", "pi")


def test_what_if_costs_history_again_and_changes_nothing(said):
    found = json.loads(
        said("claude-opus-4-8", "--what-if", "input=1", "output=2", "--json")
    )
    # Five calls of 55,000 tokens of prompt and 200 of output; one had no price.
    plain = next(one for one in found if one["model"] == "claude-opus-4-8")
    assert plain["rows"] == plain["changed"] == 5
    assert plain["after_usd"] == pytest.approx(5 * 0.0554)
    assert (plain["unpriced_before"], plain["unpriced_after"]) == (1, 0)
    now = json.loads(said("--what-if", "--json"))
    assert sum(one["changed"] for one in now) == 0
    assert sum(one["rows"] for one in now) == 15
