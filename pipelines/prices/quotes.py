"""What a call costs: the rows of `meta.price_quotes`, one per rate that can apply.

A name is resolved to a line of a price list (`names`), what that line costs over time
is written down as flat rows (`lists`, `overlay`), and SQL only joins and multiplies
(sql/macros.sql). What no list has, or has without a price, gets no row: such a call
stays unpriced, never $0.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from agentlake.errors import did_you_mean
from agentlake.pipelines.prices import lists, names, overlay
from agentlake.pipelines.prices.lists import PLACE, Span
from agentlake.pipelines.prices.names import Offer, Resolved

_RULES = 2  # raise it when this module makes other rows of the same lists
_MILLION = 1_000_000


class OfferRow(msgspec.Struct, frozen=True, kw_only=True):
    """What an offer was found to be, priced or not."""

    source: str
    provider: str | None
    model: str
    service_tier: str | None
    region: str | None
    """As the usage rows name it; these five are the key."""
    vendor: str | None
    canonical_model: str | None
    price_channel: str | None
    seller: str | None
    list_model: str | None
    price_region: str | None
    price_tier: str | None
    context_variant: str | None
    effort: str | None
    price_assumptions: str | None
    """What was assumed on the way, each by its word; null is nothing."""
    unpriced_because: str | None
    """Why it has no rates at all; null where it has some."""


class PriceRow(msgspec.Struct, frozen=True, kw_only=True):
    """The rates of one offer in one span of dates, hours, weekdays and prompt sizes.

    The spans of an offer never overlap, so a call meets one row at most. Every
    rate is resolved: a kind without a price of its own has its parent's.
    """

    price_id: str
    """Readable, unique, and the same in every run; `*` is an unknown provider."""
    source: str
    provider: str | None
    model: str
    service_tier: str | None
    region: str | None
    seller: str | None
    list_model: str | None
    valid_from: datetime | None
    valid_to: datetime | None
    """valid_from <= called_at < valid_to; null is open."""
    time_from: time | None
    time_to: time | None
    """time_from <= UTC time of day < time_to; null is midnight."""
    weekdays: int | None
    """A bit per day in UTC, Monday is 1; null is all days."""
    tier_above: int
    tier_upto: int | None
    """tier_above < prompt tokens <= tier_upto; the base has -1, so that it holds 0."""
    input_usd: Decimal
    cache_read_usd: Decimal
    cache_write_usd: Decimal
    cache_write_1h_usd: Decimal
    output_usd: Decimal
    reasoning_usd: Decimal
    """These six in USD per million tokens; for decimal(24, 18)."""
    web_search_usd: Decimal
    request_usd: Decimal
    """These two in USD per thousand."""
    origin: str
    """genai-prices with its version, overlay, or override."""
    page: str | None
    """The public page on which an overlay row rests."""


def _user_name(field: str) -> str:
    """Turn the package's name of a price into the one that users write."""
    own = {"web_searches_kcount": "web_search", "start": "from"}
    return own.get(field, field.removesuffix("_mtok"))


class _Own(msgspec.Struct, forbid_unknown_fields=True, rename=_user_name):
    """An override that states its rates."""

    input_mtok: Decimal
    output_mtok: Decimal
    cache_read_mtok: Decimal | None = None
    cache_write_mtok: Decimal | None = None
    cache_write_1h_mtok: Decimal | None = None
    web_searches_kcount: Decimal | None = None
    start: date | None = None

    def stated(self) -> dict[str, Decimal]:
        """Give the rates to the package; for 1h writes it wants that of writes too."""
        all_ = msgspec.structs.asdict(self)
        rates = {k: v for k, v in all_.items() if isinstance(v, Decimal)}
        return {"cache_write_mtok": self.input_mtok} | rates


class _Alias(msgspec.Struct, forbid_unknown_fields=True):
    """An override that names the model whose prices to take."""

    alias: str


def fingerprint(overrides: Mapping[str, Any]) -> str:
    """Name the prices in force: when it changes, history must be costed anew."""
    text = json.dumps(overrides, sort_keys=True, default=str)
    digest = sha256(text.encode()).hexdigest()[:16]
    return f"{_origin()}, overlay {_own_lists()}, overrides {digest}"


def quotes(
    offers: Iterable[Offer], overrides: Mapping[str, Any]
) -> tuple[list[OfferRow], list[PriceRow]]:
    """Resolve and price each offer; one that nobody prices has no price row.

    `overrides` is the user's [prices] table: a model's exact name, as the logs
    have it, with its rates or with the model whose prices it takes. It wins over
    the lists, for every provider and service tier, or, as `model#tier`, for that
    one; with a `from` date the lists still say what held before. A bad one is a
    ValueError.
    """
    own = {name: _override(name, value) for name, value in overrides.items()}
    offer_rows: list[OfferRow] = []
    price_rows: list[PriceRow] = []
    for offer in dict.fromkeys(offers):
        in_tier = own.get(f"{offer.model}#{offer.service_tier}")
        resolved, spans = _quote(offer, in_tier or own.get(offer.model))
        offer_rows.append(_offer_row(offer, resolved, spans))
        price_rows.extend(_rows(offer, spans))
    return offer_rows, price_rows


def _quote(offer: Offer, own: "_Own | _Alias | None") -> tuple[Resolved, list[Span]]:
    resolved = names.resolve(offer, overlay.known)
    if own is None:
        return resolved, _ask(offer, resolved)
    if isinstance(own, _Alias):
        other = names.resolve(offer._replace(model=own.alias), overlay.known)
        spans = _ask(offer, other)
        if not spans:
            raise _bad(offer.model, f"no price list has {own.alias!r}.")
        return other, [_overridden(span, other) for span in spans]
    from genai_prices.types import ModelPrice

    start = None if own.start is None else datetime.combine(own.start, time(), UTC)
    rates = lists.rates(ModelPrice(**own.stated()), 0, is_free=False) or {}
    stated = dict.fromkeys(("seller", "list_model", *PLACE)) | rates
    spans = [{**stated, "valid_from": start, "tier_above": -1, "page": None}]
    spans = [span | {"origin": "override"} for span in spans]
    if start is not None:
        spans = [*overlay.before(_ask(offer, resolved), start), *spans]
    return resolved, spans


def _overridden(span: Span, other: Resolved) -> Span:
    return span | {"origin": f"override, as {other.canonical_model}"}


def _ask(offer: Offer, resolved: Resolved) -> list[Span]:
    """All that a resolved name costs, over time."""
    if resolved.seller is None or resolved.list_model is None:
        return []
    spans = overlay.spans(
        resolved.seller,
        resolved.list_model,
        resolved.tier,
        source=offer.source,
        channel=resolved.channel,
        region=resolved.region,
    )
    found = {"seller": resolved.seller, "list_model": resolved.list_model}
    if resolved.assumed or resolved.channel in ("bedrock", "vertex", "azure"):
        # What its maker gives away, another need not: that it is free is not assumed.
        spans = [span for span in spans if span["input_usd"] or span["output_usd"]]
    return [
        span | found | {"origin": span["origin"].replace("genai-prices", _origin())}
        for span in spans
    ]


def _offer_row(offer: Offer, resolved: Resolved, spans: list[Span]) -> OfferRow:
    is_own = any(span["origin"].startswith("override") for span in spans)
    because = None
    if not spans:
        because = resolved.unknown or (
            f"{resolved.seller} has no price for {resolved.list_model} "
            f"in the tier {resolved.tier}"
        )
    return OfferRow(
        **offer._asdict(),
        vendor=resolved.vendor,
        canonical_model=resolved.canonical_model,
        price_channel=resolved.channel,
        seller=resolved.seller,
        list_model=resolved.list_model,
        price_region=resolved.region,
        price_tier=resolved.tier,
        context_variant=resolved.context_variant,
        effort=resolved.effort,
        price_assumptions=None if is_own else ", ".join(resolved.assumed) or None,
        unpriced_because=because,
    )


def _rows(offer: Offer, spans: Iterable[Span]) -> Iterator[PriceRow]:
    """Name the spans; the quoting keeps one name from looking like another."""
    for span in spans:
        name = "override/" if span["origin"].startswith("override") else ""
        name += f"{quote(offer.source, safe='')}:"
        name += "*" if offer.provider is None else quote(offer.provider, safe="")
        name += "/" + quote(offer.model, safe="/: ")
        if offer.service_tier is not None:
            name += "#" + quote(offer.service_tier, safe="")
        if offer.region is not None:
            name += "!" + quote(offer.region, safe="")
        yield PriceRow(
            price_id=name + _place(span), **offer._asdict(), **_rounded(span)
        )


def _place(span: Span) -> str:
    """Where in time and size a span lies, for a reader."""
    since, clock, above = span["valid_from"], span["time_from"], span["tier_above"]
    place = f"@{since:%Y-%m-%dT%H}".removesuffix("T00") if since else ""
    place += f",{clock}" if clock else ""
    place += f",days {span['weekdays']:07b}" if span["weekdays"] is not None else ""
    return place + (f"+{above}" if above >= 0 else "")


def _rounded(span: Span) -> Span:
    return {
        key: round(value, 18) if isinstance(value, Decimal) else value
        for key, value in span.items()
    }


def _override(name: str, value: object) -> _Own | _Alias:
    allowed = [field.encode_name for field in msgspec.structs.fields(_Own)] + ["alias"]
    for key in value if isinstance(value, Mapping) else ():
        if key not in allowed:
            raise _bad(name, f"unknown key {key}.{did_you_mean(key, allowed)}")
    try:
        if isinstance(value, Mapping) and "alias" in value:
            return msgspec.convert(value, _Alias)
        own = msgspec.convert(value, _Own)
    except msgspec.ValidationError as error:
        raise _bad(name, f"{error}.") from error
    for rate in own.stated().values():
        if not (rate.is_finite() and 0 <= rate < _MILLION):
            raise _bad(name, f"{rate} is no rate.")
    return own


def check(overrides: Mapping[str, Any]) -> None:
    """Raise ValueError for an override that cannot be understood."""
    for name, value in overrides.items():
        _override(name, value)


def _bad(name: str, why: str) -> ValueError:
    return ValueError(
        f"[prices] {name!r}: {why} Allowed: either alias (another model's name), or "
        "input and output with, if wanted, cache_read, cache_write, cache_write_1h "
        "(USD per million tokens), web_search (USD per 1000) and from (a date)"
    )


@cache
def _origin() -> str:
    return "genai-prices " + version("genai-prices")


@cache
def _own_lists() -> str:
    """A digest of all that decides here what a name costs."""
    digest = sha256(str(_RULES).encode())
    for name in ("names.toml", "overlay.toml"):
        digest.update(Path(__file__).with_name(name).read_bytes())
    return digest.hexdigest()[:16]
