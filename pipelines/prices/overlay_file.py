"""What `overlay.toml` may say, and reading it."""

import tomllib
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from agentlake.pipelines.prices.lists import RATES, Span

ALWAYS = (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What every entry says."""

    seller: str
    page: str
    fact: str


class Dated(Entry, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What holds for some models, for a time."""

    models: list[str]
    start: datetime = msgspec.field(default=ALWAYS[0], name="from")
    until: datetime = ALWAYS[1]

    @property
    def range(self) -> tuple[datetime, datetime]:
        """From when, until when."""
        return self.start, self.until


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Rates of one prompt size; a kind without one costs what its parent does."""

    input: Decimal
    output: Decimal
    reasoning: Decimal | None = None
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None
    cache_write_1h: Decimal | None = None
    web_search: Decimal = Decimal(0)
    above: int = -1

    def rates(self, factor: Decimal) -> Span:
        """All kinds, times a factor."""
        write = self.input if self.cache_write is None else self.cache_write
        long = write if self.cache_write_1h is None else self.cache_write_1h
        read = self.input if self.cache_read is None else self.cache_read
        thought = self.output if self.reasoning is None else self.reasoning
        rates = (self.input, read, write, long, self.output, thought)
        searches = {"web_search_usd": self.web_search, "request_usd": Decimal(0)}
        scaled = (rate * factor for rate in rates)
        return dict(zip(RATES[:6], scaled, strict=True)) | searches


class Rates(Dated, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a model costs."""

    prices: list[Price]
    tier: str = "standard"
    sources: list[str] | None = None
    peak: str | None = None

    def is_for(self, seller: str, model: str, tier: str, source: str) -> bool:
        """Whether it speaks of what was used; without `sources` it is for all."""
        return (
            (self.seller, self.tier) == (seller, tier)
            and model in self.models
            and (self.sources is None or source in self.sources)
        )


class Same(Dated, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A name that costs what another model does."""

    model: str = msgspec.field(name="as")


class Backdate(Entry, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A tier that was there before the package knew its prices."""

    tiers: list[str]
    until: datetime


class Factor(Entry, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a list multiplies, and for whom."""

    models: str
    channels: list[str] | None = None
    regions: list[str] | None = None
    not_regions: list[str] | None = None
    factor: Decimal = Decimal(1)
    cache_write_1h_of_input: Decimal | None = None


class Range(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Some days."""

    start: datetime = msgspec.field(name="from")
    until: datetime


class Peak(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """When a list charges more."""

    factor: Decimal
    hours: list[tuple[int, int]]
    weekdays: list[int]
    holidays: list[Range]


class Overlay(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All entries, read once."""

    rates: list[Rates]
    same: list[Same]
    backdate: list[Backdate]
    factors: list[Factor]
    peaks: dict[str, Peak]


@cache
def overlay() -> Overlay:
    """Read the file that is shipped, once."""
    text = Path(__file__).with_name("overlay.toml").read_text("utf-8")
    data = _with_moments(tomllib.loads(text, parse_float=Decimal))
    return msgspec.convert(data, Overlay)


def _with_moments(value: Any) -> Any:
    """A day of the file is its midnight in UTC."""
    if isinstance(value, dict):
        return {key: _with_moments(it) for key, it in value.items()}
    if isinstance(value, list):
        return [_with_moments(it) for it in value]
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime.combine(value, time(), UTC)
    return value
