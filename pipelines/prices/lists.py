"""The price lists of the genai-prices package: which names they have, and their rates.

The package's own logic decides what a model costs: it is asked for each kind of use,
at every moment and prompt size at which its answer changes, and what it says is
written down as flat spans. Only which line of a list a name means is decided
elsewhere, by whole names: the package also takes beginnings of names, which makes
`claude-opus-4.8-fast` the plain model.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from itertools import product, zip_longest
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:  # it takes a second to import: functions do so when they price
    from genai_prices.types import ModelInfo, ModelPrice

Span = dict[str, Any]
"""One stretch of dates, hours, days of the week and prompt sizes, with its rates."""

PLACE = (
    "valid_from",
    "valid_to",
    "time_from",
    "time_to",
    "weekdays",
    "tier_above",
    "tier_upto",
)
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
RATES = (*_USES, "web_search_usd", "request_usd")
_Mark = TypeVar("_Mark", date, time, int)


def known(seller: str, name: str) -> str | None:
    """The id that a seller's list has for a whole name; None: it does not have it."""
    names, patterns = _index(seller)
    if name in names:
        return names[name]
    return next((id_ for pattern, id_ in patterns if pattern.search(name)), None)


def spans(seller: str, model: str, tier: str) -> list[Span]:
    """What a model costs in a tier, over all time: nothing where no price is known."""
    info = _models(seller).get(model)
    if info is None:
        return []
    variants = _variants(info, tier)
    if tier != "standard" and not variants:
        return []
    dates, times = _marks(info, variants)
    early = min(dates, default=date(2020, 1, 1)) - timedelta(days=1)
    is_free = model.endswith(":free")
    found = []
    for (since, until), hours in product(_cut(dates), _cut(times)):
        moment = datetime.combine(since or early, hours[0] or time(), UTC)
        if tier != "standard" and not any(_holds(it, moment) for it in variants):
            continue
        price = info.get_prices(moment, _context(tier))
        steps = [t for p in vars(price).values() for t in getattr(p, "tiers", ())]
        for above, upto in _cut({step.start for step in steps}):
            base = -1 if above is None else above
            place = (_midnight(since), _midnight(until), *hours, None, base, upto)
            if known_rates := rates(price, base + 1, is_free):
                found.append(dict(zip(PLACE, place, strict=True)) | known_rates)
    return found


def rates(price: "ModelPrice", prompt_tokens: int, is_free: bool) -> Span | None:
    """See what the package charges for a million of each kind in such a prompt.

    Without a price for input or output it would charge $0. That is true of models
    that are free by name; of others nobody knows, so they have no rate.
    """
    from genai_prices.types import ModelPrice, Usage, calc_unit_price

    listed = {key: value for key, value in vars(price).items() if value is not None}
    if not is_free and not {"input_mtok", "output_mtok"} <= listed.keys():
        return None
    in_tier = {k: calc_unit_price(v, 1, prompt_tokens, 1) for k, v in listed.items()}
    flat = ModelPrice(**in_tier)
    request = flat.calc_price(Usage())["total_price"]

    def rate(count: int, *kinds: str) -> Decimal:
        usage = Usage(**dict.fromkeys(kinds, count))
        return round(flat.calc_price(usage)["total_price"] - request, 18)

    found = {column: rate(_MILLION, *kinds) for column, kinds in _USES.items()}
    found["web_search_usd"] = rate(1000, "web_searches")
    return found | {"request_usd": round(request * 1000, 18)}


def _context(tier: str) -> dict[str, str]:
    """The tier in the words of all providers: a list uses one of them."""
    if tier == "standard":
        return {"service_tier": "default"}
    return dict.fromkeys(("service_tier", "speed", "processing"), tier)


def _variants(model: "ModelInfo", tier: str) -> list[Any]:
    context = _context(tier)
    return [
        it for it in model.price_variants or () if it.when.items() <= context.items()
    ]


def _holds(variant: Any, moment: datetime) -> bool:
    return variant.constraint is None or variant.constraint.active(moment)


def _marks(model: "ModelInfo", variants: Iterable[Any]) -> tuple[set[date], set[time]]:
    """List the dates and the times of day at which the model's prices may change."""
    from genai_prices.types import StartDateConstraint, TimeOfDateConstraint

    dated = model.prices if isinstance(model.prices, list) else []
    dates: set[date] = set()
    times: set[time] = set()
    for condition in filter(None, (it.constraint for it in (*dated, *variants))):
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


@cache
def _models(seller: str) -> Mapping[str, "ModelInfo"]:
    from genai_prices.data_snapshot import get_snapshot

    for provider in get_snapshot().providers:
        if provider.id == seller:
            return {it.id: it for it in provider.models if _is_priced(it)}
    return {}


def _is_priced(model: "ModelInfo") -> bool:
    """Whether its tokens have a price: some are listed without one."""
    dated = model.prices if isinstance(model.prices, list) else [model]
    each = [vars(it.prices) for it in dated]
    return model.id.endswith(":free") or any(
        it.get("input_mtok") is not None and it.get("output_mtok") is not None
        for it in each
    )


@cache
def _index(seller: str) -> tuple[dict[str, str], list[tuple[re.Pattern[str], str]]]:
    """Whole names, and patterns, to the id; an id wins over another's other name."""
    names: dict[str, str] = {}
    patterns = []
    for id_, model in _models(seller).items():
        for kind, text in _clauses(model.match):
            if kind == "regex":
                patterns.append((re.compile(text, re.IGNORECASE), id_))
            else:
                names.setdefault(text.lower(), id_)
    return names | {id_.lower(): id_ for id_ in _models(seller)}, patterns


def _clauses(match: Any) -> Iterator[tuple[str, str]]:
    """The texts of a rule by which the package knows a model."""
    from genai_prices import types

    match match:
        case types.ClauseOr(or_):
            for clause in or_:
                yield from _clauses(clause)
        case types.ClauseAnd(and_):
            # A beginning, with what it must not hold: its text is a name.
            for kind, text in (it for clause in and_ for it in _clauses(clause)):
                if kind == "name":
                    yield kind, text
        case types.ClauseRegex():
            yield "regex", match.regex
        case types.ClauseEquals():
            yield "name", match.equals
        case types.ClauseStartsWith():
            yield "name", match.starts_with
        case types.ClauseContains():
            yield "name", match.contains
        case types.ClauseEndsWith():
            yield "name", match.ends_with


def _cut(marks: set[_Mark]) -> Iterable[tuple[_Mark | None, _Mark | None]]:
    """Cut an open line at the marks."""
    starts: list[_Mark | None] = [None]
    starts.extend(sorted(marks))
    return zip_longest(starts, starts[1:])


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)
