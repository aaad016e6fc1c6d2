"""What a call costs: the rows of `meta.price_quotes`, one per rate that can apply.

`quotes` asks the genai-prices package what it would charge for each kind of use,
at every moment and prompt size where its answer changes, and writes the answers
down as flat rows. So the package's own logic decides, and SQL only joins and
multiplies (sql/macros.sql). What the package does not know, or knows without a
price, gets no row: such a call stays unpriced, never $0.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from itertools import product, zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec

from agentlake.errors import did_you_mean

if TYPE_CHECKING:  # it takes a second to import: functions do so when they price
    from genai_prices.types import ModelInfo, ModelPrice

_RULES = 1  # raise it when this module makes other rows of the same package
_MILLION = 1_000_000
_WRITE = ("input_tokens", "cache_write_tokens")
_USES = {  # what to ask the package for each rate: the kind and what it is part of
    "input_usd": ("input_tokens",),
    "cache_read_usd": ("input_tokens", "cache_read_tokens"),
    "cache_write_usd": _WRITE,
    "cache_write_1h_usd": (*_WRITE, "cache_write_1h_tokens"),
    "output_usd": ("output_tokens",),
    "reasoning_usd": ("output_tokens", "output_reasoning_tokens"),
}
_Mark = TypeVar("_Mark", date, time, int)
_Columns = dict[str, Any]
_SPAN = ("valid_from", "valid_to", "time_from", "time_to", "tier_above", "tier_upto")


class Offer(NamedTuple):
    """What was used, as the usage rows name it."""

    provider: str | None
    model: str
    service_tier: str | None


class PriceRow(msgspec.Struct, frozen=True, kw_only=True):
    """The rates of one offer in one span of dates, daily hours and prompt sizes.

    The spans of an offer never overlap, so a call meets one row at most. Every
    rate is resolved: a kind without a price of its own has its parent's.
    """

    price_id: str
    """Readable, unique, and the same in every run; `*` is an unknown provider."""
    provider: str | None
    model: str
    service_tier: str | None
    matched_provider: str | None
    matched_model: str | None
    valid_from: datetime | None
    valid_to: datetime | None
    """valid_from <= called_at < valid_to; null is open."""
    time_from: time | None
    time_to: time | None
    """time_from <= UTC time of day < time_to; null is midnight."""
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
    return f"{_origin()}, rules {_RULES}, overrides {digest}"


def quotes(offers: Iterable[Offer], overrides: Mapping[str, Any]) -> list[PriceRow]:
    """Price each offer; one that nobody prices has no row.

    `overrides` is the user's [prices] table: a model's exact name, as the logs
    have it, with its rates or with the model whose prices it takes. It wins over
    the package, for every provider and service tier; with a `from` date the
    package still says what held before. A bad one is a ValueError.
    """
    own = {name: _override(name, value) for name, value in overrides.items()}
    return [
        row
        for offer in dict.fromkeys(offers)
        for row in _quote(offer, own.get(offer.model))
    ]


def _quote(offer: Offer, own: _Own | _Alias | None) -> Iterator[PriceRow]:
    if own is None:
        yield from _rows(offer, _ask(offer), _origin())
        return
    if isinstance(own, _Alias):
        other = offer._replace(model=own.alias)
        # The user's gateway may be a provider that the package does not know.
        spans = _ask(other) or _ask(other._replace(provider=None))
        if not spans:
            raise _bad(offer.model, f"{_origin()} has no price for {own.alias!r}.")
    else:
        from genai_prices.types import ModelPrice

        start = _midnight(own.start)
        rates = _rates(ModelPrice(**own.stated()), 0, is_free=False) or {}
        match = dict.fromkeys(("matched_provider", "matched_model", *_SPAN))
        spans = [{**match, "valid_from": start, "tier_above": -1, **rates}]
        if start:
            before = [
                span | {"valid_to": min(start, span["valid_to"] or start)}
                for span in _ask(offer)
                if span["valid_from"] is None or span["valid_from"] < start
            ]
            yield from _rows(offer, before, _origin())
    yield from _rows(offer, spans, "override")


def _rows(offer: Offer, spans: Iterable[_Columns], origin: str) -> Iterator[PriceRow]:
    """Name the spans; the quoting keeps one name from looking like another."""
    name = "override/" if origin == "override" else ""
    name += "*" if offer.provider is None else quote(offer.provider, safe="")
    name += "/" + quote(offer.model, safe="/: ")
    if offer.service_tier is not None:
        name += "#" + quote(offer.service_tier, safe="")
    for span in spans:
        since, clock, above = span["valid_from"], span["time_from"], span["tier_above"]
        place = f"@{since.date()}" if since else ""
        place += f",{clock}" if clock else ""
        place += f"+{above}" if above >= 0 else ""
        yield PriceRow(price_id=name + place, **offer._asdict(), **span, origin=origin)


def _ask(offer: Offer) -> list[_Columns]:
    """Find the offer's model by the package's rules and take down all its prices."""
    from genai_prices.data_snapshot import get_snapshot

    tier = offer.service_tier
    context = {"service_tier": "default"}
    if tier not in (None, "standard", "default"):
        context = dict.fromkeys(("service_tier", "speed", "processing"), str(tier))
    find = get_snapshot().find_provider_model
    try:
        provider, model = find(offer.model, None, offer.provider, None)
        if not any(model is listed for listed in provider.models):
            context = {}  # as the package: a model lent by another has no variants
        dates, times = _marks(model, context)
    except LookupError:
        return []
    match = {"matched_provider": provider.id, "matched_model": model.id}
    early = min(dates, default=date(2020, 1, 1)) - timedelta(days=1)
    is_free = model.id.endswith(":free")
    spans = []
    for (since, until), hours in product(_cut(dates), _cut(times)):
        moment = datetime.combine(since or early, hours[0] or time(), UTC)
        price = model.get_prices(moment, context)
        tiers = [t for p in vars(price).values() for t in getattr(p, "tiers", ())]
        for above, upto in _cut({tier.start for tier in tiers}):
            base = -1 if above is None else above
            place = (_midnight(since), _midnight(until), *hours, base, upto)
            if rates := _rates(price, base + 1, is_free):
                spans.append(match | dict(zip(_SPAN, place, strict=True)) | rates)
    return spans


def _marks(
    model: "ModelInfo", context: Mapping[str, str]
) -> tuple[set[date], set[time]]:
    """List the dates and the times of day at which the model's prices may change."""
    from genai_prices.types import StartDateConstraint, TimeOfDateConstraint

    dated = model.prices if isinstance(model.prices, list) else []
    variants = model.price_variants or []
    conditions = [
        *(price.constraint for price in dated),
        *(v.constraint for v in variants if v.when.items() <= context.items()),
    ]
    dates: set[date] = set()
    times: set[time] = set()
    for condition in filter(None, conditions):
        match condition:
            case StartDateConstraint(start_date):
                dates.add(start_date)
            case TimeOfDateConstraint(start, end):
                for clock in (start, end):
                    zone = clock.tzinfo or UTC
                    moment = datetime.combine(date(1970, 1, 1), clock, zone)
                    times.add(moment.astimezone(UTC).time())
            case _:
                msg = f"{model.id}: a price condition that this module does not know"
                raise LookupError(msg)
    return dates, times - {time()}


def _rates(price: "ModelPrice", prompt_tokens: int, is_free: bool) -> _Columns | None:
    """See what the package charges for a million of each kind in such a prompt.

    Without a price for input or output it would charge $0. That is true of models
    that are free by name; of others nobody knows, so they have no rate.
    """
    from genai_prices.types import ModelPrice, Usage, calc_unit_price

    known = {key: value for key, value in vars(price).items() if value is not None}
    if not is_free and not {"input_mtok", "output_mtok"} <= known.keys():
        return None
    in_tier = {k: calc_unit_price(v, 1, prompt_tokens, 1) for k, v in known.items()}
    flat = ModelPrice(**in_tier)
    request = flat.calc_price(Usage())["total_price"]

    def rate(count: int, *kinds: str) -> Decimal:
        usage = Usage(**dict.fromkeys(kinds, count))
        return round(flat.calc_price(usage)["total_price"] - request, 18)

    rates = {column: rate(_MILLION, *kinds) for column, kinds in _USES.items()}
    rates["web_search_usd"] = rate(1000, "web_searches")
    return rates | {"request_usd": round(request * 1000, 18)}


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


def _cut(marks: set[_Mark]) -> Iterable[tuple[_Mark | None, _Mark | None]]:
    """Cut an open line at the marks."""
    starts: list[_Mark | None] = [None]
    starts.extend(sorted(marks))
    return zip_longest(starts, starts[1:])


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)


@cache
def _origin() -> str:
    return "genai-prices " + version("genai-prices")
