"""The command that compares every rate with another table misses nothing."""

import sys

import pytest

from agentlake.fixtures import FIXTURES_DIR

sys.path.insert(0, str(FIXTURES_DIR.parent / "benchmarks"))
import second_opinion

OPUS = {
    "litellm_provider": "anthropic",
    "mode": "chat",
    "input_cost_per_token": 5e-06,
    "output_cost_per_token": 2.5e-05,
    "cache_creation_input_token_cost_above_1hr": 1e-05,
    "input_cost_per_token_batches": 2.5e-06,
    "supports_vision": True,
}


def found(**entry):
    table = {"claude-opus-4-8": OPUS | entry}
    return [difference[3:] for difference in second_opinion.differences(table)]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({}, []),
        ({"output_cost_per_token": 3e-05}, [("", "output_usd", "25", "30")]),
        (
            {"input_cost_per_token_above_200k_tokens": 1e-05},
            [("200000", "input_usd", "5", "10")],
        ),
        (
            {"output_cost_per_token_priority": 5e-05},
            [("", "output_usd", "none", "50")],
        ),
        (
            {"cache_creation_input_token_cost": 6e-06},
            [("", "cache_write_usd", "6.25", "6")],
        ),
        ({"mode": "embedding", "input_cost_per_token": 1.0}, []),
    ],
)
def test_a_rate_that_differs_is_listed(entry, expected):
    assert found(**entry) == expected


def test_a_judgement_is_of_what_it_says_and_of_nothing_else():
    table = {"claude-opus-4-8": OPUS | {"output_cost_per_token": 3e-05}}
    (difference,) = second_opinion.differences(table)
    said = {"seller": "anthropic", "model": "claude-opus-*", "kind": "output_usd"}
    empty = dict.fromkeys(("tier", "above", "ours", "theirs"), "")
    judged = second_opinion.judged
    assert judged(difference, [empty | said]) == 0
    assert judged(difference, [empty | said | {"theirs": "31"}]) is None
    assert judged(difference, [empty | said | {"kind": "input_usd"}]) is None
