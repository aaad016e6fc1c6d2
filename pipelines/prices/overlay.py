"""What wins over the price package: dated rows, each with the page that it rests on.

`overlay.toml` says what they mean. Rows of rates take the place of the package's for
their dates; `same` lends another model's; `backdate` gives a tier the relation to the
standard price that the package knows only from later on; factors come last.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, time
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import cache
from itertools import pairwise

from agentlake.pipelines.prices import lists
from agentlake.pipelines.prices.lists import RATES, Span
from agentlake.pipelines.prices.overlay_file import (
    ALWAYS,
    Backdate,
    Factor,
    Peak,
    Rates,
    overlay,
)


def known(seller: str, name: str) -> str | None:
    """The id by which the seller's list, or the overlay, has a whole name."""
    if (seller, name) in _own_names():
        return name
    return lists.known(seller, name)


@cache
def _own_names() -> frozenset[tuple[str, str]]:
    entries = (*overlay().rates, *overlay().same)
    return frozenset((it.seller, name) for it in entries for name in it.models)


def spans(
    seller: str,
    model: str,
    tier: str,
    *,
    source: str = "",
    channel: str | None = None,
    region: str | None = None,
) -> list[Span]:
    """What a model costs over all time, with where each span comes from.

    A source's own entries win over those for all. Each span names `origin` and `page`.
    """
    found = _listed(seller, model, tier)
    for entry in sorted(overlay().rates, key=lambda it: it.sources is not None):
        if entry.is_for(seller, model, tier, source):
            found = [*_without(found, *entry.range), *_spans_of(entry)]
    for factor in overlay().factors:
        if _applies(factor, seller, model, channel, region):
            found = [_multiplied(span, factor) for span in found]
    return found


def _listed(seller: str, model: str, tier: str) -> list[Span]:
    """The package's spans, with what a tier or another model lends."""
    found = [
        span | {"origin": "genai-prices", "page": None}
        for span in lists.spans(seller, model, tier)
    ]
    for entry in overlay().backdate:
        if entry.seller == seller and tier in entry.tiers:
            found += _backdated(entry, found, lists.spans(seller, model, "standard"))
    for same in overlay().same:
        if same.seller == seller and model in same.models:
            lent = spans(seller, same.model, tier)
            found = _without(found, *same.range)
            found += [
                span | {"origin": "overlay", "page": same.page}
                for span in _within(lent, *same.range)
            ]
    return found


def _spans_of(entry: Rates) -> Iterator[Span]:
    """The spans of an entry: by prompt size and, where there is a peak, by hour."""
    peak = overlay().peaks[entry.peak] if entry.peak else None
    uppers = [*(it.above for it in entry.prices[1:]), None]
    for price, upto in zip(entry.prices, uppers, strict=True):
        for since, until, hours, weekdays, is_peak in _clock(entry, peak):
            factor = peak.factor if peak and is_peak else Decimal(1)
            place = (_open(since), _open(until), *hours, weekdays, price.above, upto)
            said = {"origin": "overlay", "page": entry.page}
            yield (
                dict(zip(lists.PLACE, place, strict=True)) | price.rates(factor) | said
            )


_Hours = tuple[time | None, time | None]
_Clock = tuple[datetime, datetime, _Hours, int | None, bool]


def _clock(entry: Rates, peak: Peak | None) -> Iterator[_Clock]:
    """The stretches of an entry that never overlap: dates, hours, days of the week."""
    start, until = entry.range
    if peak is None:
        yield start, until, (None, None), None, False
        return
    holidays = [(it.start, it.until) for it in peak.holidays]
    marks = sorted({start, until, *(end for it in holidays for end in it)})
    marks = [it for it in marks if start <= it <= until]
    weekdays = sum(1 << (day - 1) for day in peak.weekdays)
    for since, upto in pairwise(marks):
        if any(first <= since < last for first, last in holidays):
            yield since, upto, (None, None), None, False
            continue
        yield since, upto, (None, None), 127 - weekdays, False
        for hours, is_peak in _cut_day(peak.hours):
            yield since, upto, hours, weekdays, is_peak


def _cut_day(peaks: list[tuple[int, int]]) -> Iterator[tuple[_Hours, bool]]:
    now = 0
    for first, last in peaks:
        yield (_hour(now), _hour(first)), False
        yield (_hour(first), _hour(last)), True
        now = last
    yield (_hour(now), None), False


def _hour(hour: int) -> time | None:
    return time(hour) if hour else None


def _backdated(entry: Backdate, tiered: list[Span], standard: list[Span]) -> list[Span]:
    """A tier before the package knew it: the same multiple of the standard price."""
    until = entry.until
    first = [it for it in tiered if it["valid_from"] == until]
    base = next((it for it in standard if _is_base(it) and _holds(it, until)), None)
    found = []
    for old in _without(standard, until, ALWAYS[1]):
        if base is None or not _is_base(old):
            continue
        scale = {rate: _ratio(old[rate], base[rate]) for rate in RATES[:6]}
        for span in first:
            scaled = {rate: span[rate] * scale[rate] for rate in scale}
            dates = {key: old[key] for key in ("valid_from", "valid_to")}
            found.append(
                span | scaled | dates | {"origin": "overlay", "page": entry.page}
            )
    return found


def _ratio(one: Decimal, other: Decimal) -> Decimal:
    return one / other if other else Decimal(1)


def _is_base(span: Span) -> bool:
    return bool(span["tier_above"] < 0)


def _holds(span: Span, moment: datetime) -> bool:
    since, until = span["valid_from"] or ALWAYS[0], span["valid_to"] or ALWAYS[1]
    return bool(since <= moment < until)


def _applies(
    factor: Factor, seller: str, model: str, channel: str | None, region: str | None
) -> bool:
    if factor.seller != seller or not re.fullmatch(factor.models, model):
        return False
    if factor.channels is not None and channel not in factor.channels:
        return False
    if factor.not_regions is not None:
        return region is not None and not _is_one_of(region, factor.not_regions)
    return factor.regions is None or _is_one_of(region or "", factor.regions)


def _is_one_of(region: str, patterns: list[str]) -> bool:
    """Whether a region is one that is named; `us-gov*` names all that begin so."""
    return any(fnmatchcase(region, pattern) for pattern in patterns)


def _multiplied(span: Span, entry: Factor) -> Span:
    """Tokens only: searches cost the same everywhere."""
    rates = {rate: span[rate] * entry.factor for rate in RATES[:6]}
    if entry.cache_write_1h_of_input is not None:
        rates["cache_write_1h_usd"] = span["input_usd"] * entry.cache_write_1h_of_input
    return span | rates | {"page": entry.page, "origin": span["origin"] + " x overlay"}


def before(spans: Iterable[Span], moment: datetime) -> list[Span]:
    """What of spans lies before a moment."""
    return _within(spans, ALWAYS[0], moment)


def _without(spans: Iterable[Span], start: datetime, until: datetime) -> list[Span]:
    """What is left of spans outside of a range of dates."""
    return _within(spans, ALWAYS[0], start) + _within(spans, until, ALWAYS[1])


def _within(spans: Iterable[Span], start: datetime, until: datetime) -> list[Span]:
    found = []
    for span in spans:
        since = max(span["valid_from"] or ALWAYS[0], start)
        upto = min(span["valid_to"] or ALWAYS[1], until)
        if since < upto:
            found.append(span | {"valid_from": _open(since), "valid_to": _open(upto)})
    return found


def _open(moment: datetime) -> datetime | None:
    return None if moment in ALWAYS else moment
