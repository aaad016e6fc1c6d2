"""From names, as agents and clouds really write them, to what they cost."""

import csv
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agentlake.pipelines.prices import overlay
from agentlake.pipelines.prices.lists import Span
from agentlake.pipelines.prices.names import ASSUMPTIONS, Offer, Resolved, resolve

_LINES = Path(__file__).with_name("names.csv").read_text("utf-8").splitlines()
NAMES = list(csv.DictReader(_LINES))
TUESDAY_NOON = datetime(2026, 11, 3, 12, tzinfo=UTC)


def resolved(name: dict[str, str]) -> tuple[Offer, Resolved]:
    offer = Offer(name["source"], name["provider"] or None, name["model"], None, None)
    return offer, resolve(offer, overlay.known)


def spans(offer: Offer, found: Resolved) -> list[Span]:
    if found.seller is None or found.list_model is None:
        return []
    return overlay.spans(
        found.seller,
        found.list_model,
        found.tier,
        source=offer.source,
        channel=found.channel,
        region=found.region,
    )


def holds(span: Span, moment: datetime, prompt: int = 1000) -> bool:
    """Whether a span is the one for a call: as the macro of the same purpose."""
    since, until = span["valid_from"], span["valid_to"]
    begin, end = span["time_from"], span["time_to"]
    return (
        (since is None or since <= moment)
        and (until is None or moment < until)
        and (begin is None or begin <= moment.time())
        and (end is None or moment.time() < end)
        and (span["weekdays"] is None or span["weekdays"] >> moment.weekday() & 1)
        and span["tier_above"] < prompt
        and (span["tier_upto"] is None or prompt <= span["tier_upto"])
    )


@pytest.mark.parametrize("name", NAMES, ids=lambda it: f"{it['source']} {it['model']}")
def test_a_name_is_resolved_in_steps_and_priced(name: dict[str, str]) -> None:
    offer, found = resolved(name)
    said: dict[str, Any] = {
        key: getattr(found, key) or ""
        for key in (
            "vendor",
            "canonical_model",
            "channel",
            "region",
            "tier",
            "context_variant",
            "effort",
        )
    }
    assert said == {key: name[key] for key in said}
    assert "; ".join(found.assumed) == name["assumed"]
    now = [it for it in spans(offer, found) if holds(it, TUESDAY_NOON)]
    rates = [(it["input_usd"], it["output_usd"]) for it in now]
    stated = (name["input_usd"], name["output_usd"])
    assert rates == ([tuple(map(Decimal, stated))] if all(stated) else [])
    assert bool(found.unknown) == (found.seller is None)


def test_a_name_without_a_list_says_why() -> None:
    for name in NAMES:
        _, found = resolved(name)
        assert found.seller or found.unknown, name


def test_each_assumption_is_explained() -> None:
    assumed = {step for name in NAMES for step in resolved(name)[1].assumed}
    assert assumed == set(ASSUMPTIONS)


def test_a_list_decides_by_whole_names_and_never_by_likeness() -> None:
    lists = {("anthropic", "claude-opus-9"): "claude-opus-9"}

    def known(seller: str, name: str) -> str | None:
        return lists.get((seller, name))

    def model(name: str) -> str | None:
        return resolve(Offer("pi", None, name, None, None), known).list_model

    assert model("us.anthropic.claude-9-opus-20270101-v1:0") == "claude-opus-9"
    assert model("claude-opus-9-nano") is None
    assert model("claude-opus-91") is None
    assert model("my-claude-opus-9") is None


def test_resolving_does_not_depend_on_what_was_asked_before() -> None:
    forwards = [resolved(name) for name in NAMES]
    backwards = [resolved(name) for name in reversed(NAMES)]
    assert forwards == backwards[::-1]
