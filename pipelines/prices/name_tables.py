"""The tables of `names.toml`, read once and made ready to look things up in."""

import re
import tomllib
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple


class Seller(NamedTuple):
    """Whose price list, and how one is served by it."""

    id: str
    channel: str


class Wrap(NamedTuple):
    """Something that stands around a name."""

    form: str
    pattern: re.Pattern[str]
    channel: str | None


class Tables(NamedTuple):
    """All of the file."""

    no_model: frozenset[str]
    opaque: list[re.Pattern[str]]
    providers: dict[str, Seller]
    local: frozenset[str]
    sources: dict[str, str]
    families: list[tuple[str, re.Pattern[str]]]
    wraps: list[Wrap]
    clouds: frozenset[str]
    at_makers_price: re.Pattern[str]
    endings: dict[str, re.Pattern[str]]
    standard: frozenset[str]
    tiers: dict[tuple[str, str], str]
    aliases: dict[str, str]
    assumed_aliases: frozenset[str]


@cache
def tables() -> Tables:
    """Read the file that is shipped."""
    data = tomllib.loads(Path(__file__).with_name("names.toml").read_text("utf-8"))
    sellers = data["sellers"]
    providers = {
        word: Seller(seller, it.get("channel", "first-party"))
        for seller, it in sellers.items()
        for word in (seller, *it["providers"])
    } | {
        word: Seller(seller, "subscription")
        for seller, words in data["plans"].items()
        for word in words
    }
    tiers = data["tiers"]
    return Tables(
        no_model=frozenset(data["no_model"]["names"]),
        opaque=[re.compile(it) for it in data["no_model"]["patterns"]],
        providers=providers,
        local=frozenset(data["local"]["providers"]),
        sources=data["sources"],
        families=[(it["vendor"], re.compile(it["pattern"])) for it in data["families"]],
        wraps=[
            Wrap(it["form"], re.compile(it["pattern"]), it.get("channel"))
            for it in data["wraps"]
        ],
        clouds=frozenset(data["at_makers_price"]["clouds"]),
        at_makers_price=re.compile(data["at_makers_price"]["pattern"]),
        endings=_endings(data["endings"]),
        standard=frozenset(tiers["standard"]),
        tiers={
            (seller, word): stands_for
            for seller, words in tiers.items()
            if isinstance(words, dict)
            for word, stands_for in words.items()
        },
        aliases={name: it["model"] for it in data["aliases"] for name in it["names"]},
        assumed_aliases=frozenset(
            chain.from_iterable(it["names"] for it in data["aliases"] if "why" in it)
        ),
    )


def _endings(table: dict[str, Any]) -> dict[str, re.Pattern[str]]:
    """One pattern a kind: what stands before the ending, and the ending."""
    words = {
        kind: "|".join(map(re.escape, value)) if isinstance(value, list) else value
        for kind, value in table.items()
    }
    return {
        kind: re.compile(rf"(?P<name>.+?)-(?P<ending>{them})")
        for kind, them in words.items()
    }
