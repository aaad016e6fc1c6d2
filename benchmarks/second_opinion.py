"""Compare every rate with a second public table: litellm's, which ships in its package.

    make second-opinion            on the locked versions; what CI runs
    python benchmarks/second_opinion.py FILE [--all]

FILE is litellm's `model_prices_and_context_window_backup.json`. Each of its models is
resolved as a name that an agent wrote, and each of its rates is compared with ours on
one day. A difference is either judged, in `judged_prices.csv` with the reason, or
listed, and then the exit code is 1: it is to be looked up on the vendor's page, and put
right in `pipelines/prices/overlay.toml` or judged. So is a judgement without its
difference: it is to be removed.
"""

import csv
import json
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from agentlake.pipelines.prices import overlay
from agentlake.pipelines.prices.lists import Span
from agentlake.pipelines.prices.names import Offer, Resolved, resolve

JUDGED = Path(__file__).with_name("judged_prices.csv")
ON = datetime(2026, 12, 2, 12, tzinfo=UTC)  # a Wednesday, outside of all peak hours
SELLERS = {  # litellm's word for a provider, where it is one that we price
    "anthropic": "anthropic",
    "openai": "openai",
    "gemini": "google",
    "deepseek": "deepseek",
    "zai": "zai",
    "moonshot": "moonshotai",
    "minimax": "minimax",
    "xai": "x-ai",
    "mistral": "mistral",
    "dashscope": "alibaba",
    "bedrock": "bedrock",
    "bedrock_converse": "bedrock",
    "openrouter": "openrouter",
}
RATES = {
    "input_cost_per_token": "input_usd",
    "output_cost_per_token": "output_usd",
    "cache_read_input_token_cost": "cache_read_usd",
    "cache_creation_input_token_cost": "cache_write_usd",
    "cache_creation_input_token_cost_above_1hr": "cache_write_1h_usd",
}
TIERS = {"": "standard", "_priority": "priority", "_flex": "flex", "_batches": "batch"}
ABOVE = re.compile(r"_above_(\d+)k_tokens")
MILLION = 1_000_000


class Rate(NamedTuple):
    """One rate of the other table."""

    seller: str
    model: str
    tier: str
    above: int
    kind: str
    usd: Decimal


class Difference(NamedTuple):
    """A rate that the two tables do not agree on, or that only theirs has."""

    seller: str
    model: str
    tier: str
    above: str
    kind: str
    ours: str
    theirs: str


def theirs(table: dict[str, dict[str, Any]]) -> Iterator[tuple[Rate, str]]:
    """Every rate of the models that have a price per token, with the model's key."""
    for key, entry in table.items():
        seller = SELLERS.get(entry.get("litellm_provider", ""))
        if seller is None or entry.get("mode") not in ("chat", "responses"):
            continue
        model = key.removeprefix(entry["litellm_provider"] + "/")
        if "/" in model and seller not in ("openrouter", "bedrock"):
            continue  # a region or a mode of theirs before the name
        for field, value in entry.items():
            if rate := _rate(field, value):
                tier, above, kind = rate
                usd = Decimal(repr(value)) * MILLION
                yield Rate(seller, model, tier, above, kind, usd), key
        for step in entry.get("tiered_pricing") or ():
            for field, value in step.items():
                if field in RATES and value is not None:
                    above = int(step.get("range", [0])[0]) or -1
                    usd = Decimal(repr(value)) * MILLION
                    rate_ = Rate(seller, model, "standard", above, RATES[field], usd)
                    yield rate_, key


def _rate(field: str, value: object) -> tuple[str, int, str] | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    above = ABOVE.search(field)
    bare = ABOVE.sub("", field)
    for ending, tier in TIERS.items():
        kind = RATES.get(bare.removesuffix(ending) if ending else bare)
        if kind and (not ending or bare.endswith(ending)):
            return tier, int(above[1]) * 1000 if above else -1, kind
    return None


def differences(table: dict[str, dict[str, Any]]) -> Iterator[Difference]:
    """What the two do not agree on; models that we do not know are no difference."""
    for rate, _ in theirs(table):
        offer = Offer("", rate.seller, rate.model, rate.tier, None)
        found = resolve(offer, overlay.known)
        if found.seller is None or found.list_model is None:
            continue
        span = _holding(found, rate)
        ours = "none" if span is None else _short(span[rate.kind])
        if ours != _short(rate.usd):
            above = str(rate.above) if rate.above >= 0 else ""
            yield Difference(*rate[:3], above, rate.kind, ours, _short(rate.usd))


def _holding(found: Resolved, rate: Rate) -> Span | None:
    """Our span for a prompt just above theirs, on the day of the comparison."""
    assert found.seller is not None and found.list_model is not None
    prompt = max(rate.above, 0) + 1
    for span in overlay.spans(
        found.seller,
        found.list_model,
        found.tier,
        channel=found.channel,
        region=found.region,
    ):
        since, until = span["valid_from"], span["valid_to"]
        begin, end = span["time_from"], span["time_to"]
        upto = span["tier_upto"]
        if (
            (since is None or since <= ON)
            and (until is None or until > ON)
            and (begin is None or begin <= ON.time())
            and (end is None or ON.time() < end)
            and (span["weekdays"] is None or span["weekdays"] >> ON.weekday() & 1)
            and span["tier_above"] < prompt
            and (upto is None or prompt <= upto)
        ):
            return span
    return None


def _short(usd: Decimal) -> str:
    return f"{round(usd, 9).normalize():f}"


def judged(difference: Difference, judgements: list[dict[str, str]]) -> int | None:
    """The judgement that a difference falls under; `*` and `?` stand for any."""
    for number, judgement in enumerate(judgements):
        said = difference._asdict()
        if all(fnmatchcase(said[key], judgement[key] or "*") for key in said):
            return number
    return None


def main() -> int:
    """Print what is not judged; 1 if there is any, or a judgement of nothing."""
    table = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    lines = JUDGED.read_text("utf-8").splitlines()
    judgements = list(csv.DictReader(lines))
    met: set[int] = set()
    found = sorted(set(differences(table)))
    fresh = []
    for difference in found:
        number = judged(difference, judgements)
        if number is None:
            fresh.append(difference)
        else:
            met.add(number)
    csv.writer(sys.stdout, lineterminator="\n").writerows(fresh)
    unmet = [it for number, it in enumerate(judgements) if number not in met]
    for judgement in unmet:
        print(f"no such difference any more: {judgement}", file=sys.stderr)
    print(
        f"{len(found):,} differences, {len(fresh):,} of them not judged;"
        f" {len(unmet):,} of {len(judgements):,} judgements without a difference",
        file=sys.stderr,
    )
    return 1 if fresh or unmet else 0


if __name__ == "__main__":
    sys.exit(main())
