"""`agentlake prices`: the rates of a model over time, and what others would change."""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from agentlake.errors import UserError
from agentlake.pipelines.cli.table import Column, count, is_bold, render, usd
from agentlake.pipelines.prices.names import ASSUMPTIONS, Offer
from agentlake.pipelines.prices.quotes import OfferRow, PriceRow, quotes
from agentlake.pipelines.prices.what_if import WhatIf, used, what_if
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.warehouse.connect import Connection, reading

_RATES = (
    ("input", "input_usd"),
    ("read", "cache_read_usd"),
    ("write", "cache_write_usd"),
    ("write 1h", "cache_write_1h_usd"),
    ("output", "output_usd"),
    ("search", "web_search_usd"),
)
_OVER_TIME = [
    Column(title="from"),
    Column(title="until"),
    Column(title="hours UTC"),
    Column(title="prompt"),
    *(Column(title=title, right=True) for title, _ in _RATES),
    Column(title="by"),
]
_CHANGES = [
    Column(title="source"),
    Column(title="model"),
    *(
        Column(title=title, right=True)
        for title in ("calls", "changed", "unpriced", "cost now", "would cost")
    ),
]
_DAYS = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]


def run(args: Namespace, settings: Settings, _: Mapping[str, str]) -> int:
    """Print the rates, or what a change would do; nothing is written."""
    if args.what_if is not None:
        with reading(settings.warehouse) as connection:
            return _show_what_if(args, settings, connection)
    if args.model is None:
        args.refuse("name a model, or ask --what-if")
    offers = _offers(args, settings)
    try:
        named, rates = quotes(offers, settings.prices)
    except ValueError as error:
        raise UserError(str(error)) from error
    if args.json:
        print(_as_json({"names": named, "rates": rates}))
        return 0
    for steps, spans in _told_once(named, rates):
        print("\n".join(_steps(steps)))
        if spans:
            rows = [_span(span) for span in spans]
            print(render(_OVER_TIME, rows, bold=is_bold()))
            for page in dict.fromkeys(it.page for it in spans if it.page):
                print(f"  overlay: {page}")
        print()
    return 0


def _offers(args: Namespace, settings: Settings) -> list[Offer]:
    """What was used of the model, else the model as it is named here."""
    asked = (args.source, args.provider, args.tier, args.region)
    if not any(asked) and settings.warehouse.exists():
        with reading(settings.warehouse) as connection:
            if found := used(connection, args.model):
                return found
    source = args.source or ""
    return [Offer(source, args.provider, args.model, args.tier, args.region)]


def _told_once(
    named: Sequence[OfferRow], rates: Sequence[PriceRow]
) -> Iterator[tuple[list[OfferRow], list[PriceRow]]]:
    """Each list of rates once, with all that were found to have it."""
    of: dict[tuple[Any, ...], list[OfferRow]] = {}
    spans: dict[tuple[Any, ...], list[PriceRow]] = {}
    for one in named:
        own = [it for it in rates if _key(it) == _key(one)]
        said = tuple(tuple(_span(it)) for it in own)
        place = (one.vendor, one.canonical_model, one.price_channel, one.seller)
        key = (*place, one.price_tier, one.price_region, said)
        of.setdefault(key, []).append(one)
        spans.setdefault(key, own)
    for key, names in of.items():
        yield names, sorted(spans[key], key=_order)


def _key(row: OfferRow | PriceRow) -> tuple[str | None, ...]:
    return (row.source, row.provider, row.model, row.service_tier, row.region)


def _order(span: PriceRow) -> tuple[Any, ...]:
    since = span.valid_from.timestamp() if span.valid_from else float("-inf")
    return (since, -(span.weekdays or 0), str(span.time_from or ""), span.tier_above)


def _steps(names: Sequence[OfferRow]) -> Iterator[str]:
    """From the name to the price list, in words."""
    one = names[0]
    for name in names:
        parts = [name.source, name.provider, name.model, name.service_tier, name.region]
        yield " ".join(part for part in parts if part)
    yield (
        f"  {one.canonical_model or 'no model'}, made by {one.vendor or '?'},"
        f" sold through {one.price_channel or '?'}, list of {one.seller or 'nobody'},"
        f" tier {one.price_tier}"
        + (f", region {one.price_region}" if one.price_region else "")
    )
    for step in (one.price_assumptions or "").split(", "):
        if step:
            yield f"  assumed: {ASSUMPTIONS[step]}"
    if one.unpriced_because:
        yield f"  no price: {one.unpriced_because}"


def _span(span: PriceRow) -> list[str]:
    day = "%Y-%m-%d %H:%M"
    upto = "" if span.tier_upto is None else f"<={span.tier_upto:,}"
    hours = f"{span.time_from or '00:00'!s:.5}-{span.time_to or '24:00'!s:.5}"
    is_all_day = span.time_from is None and span.time_to is None
    return [
        f"{span.valid_from:{day}}" if span.valid_from else "always",
        f"{span.valid_to:{day}}" if span.valid_to else "now",
        " ".join(filter(None, (_days(span.weekdays), "" if is_all_day else hours))),
        f">{span.tier_above:,}" if span.tier_above >= 0 else upto,
        *(_rate(getattr(span, name)) for _, name in _RATES),
        span.origin,
    ]


def _days(weekdays: int | None) -> str:
    if weekdays is None:
        return ""
    return ",".join(day for bit, day in enumerate(_DAYS) if weekdays >> bit & 1)


def _rate(rate: Decimal) -> str:
    return f"{rate.normalize():f}"


def _show_what_if(args: Namespace, settings: Settings, connection: Connection) -> int:
    overrides = dict(settings.prices)
    if args.what_if:
        if args.model is None:
            args.refuse("name the model that would have this price")
        overrides[args.model] = _override(args.what_if)
    offers = used(connection, args.model)
    if args.what_if:
        overrides |= {offer.model: overrides[args.model] for offer in offers}
    found = what_if(connection, offers, overrides) if offers else []
    if args.json:
        print(_as_json(found))
        return 0
    if not found:
        print(f"Nothing was used of {args.model}.", file=sys.stderr)
        return 0
    changed = [one for one in found if one.changed] or found
    print(render(_CHANGES, [_change(one) for one in changed], bold=is_bold()))
    asked = "these prices" if args.what_if else "the price lists and settings of now"
    print(f"Nothing was changed: this is what {asked} would do.", file=sys.stderr)
    return 0


def _override(words: Sequence[str]) -> dict[str, Any]:
    """`input=3 output=15` or `alias=gpt-5.5` as a table of the settings."""
    pairs = [word.partition("=") for word in words]
    for word, (_, is_said, _) in zip(words, pairs, strict=True):
        if not is_said:
            msg = f"--what-if: {word!r} is no KEY=VALUE: say input=3 or alias=gpt-5.5."
            raise UserError(msg)
    return {key: value for key, _, value in pairs}


def _change(one: WhatIf) -> list[str]:
    unpriced = count(one.unpriced_before)
    if one.unpriced_after != one.unpriced_before:
        unpriced += f" -> {count(one.unpriced_after)}"
    costs = [usd(one.before_usd), usd(one.after_usd)]
    return [
        one.source,
        one.model,
        count(one.rows),
        count(one.changed),
        unpriced,
        *costs,
    ]


def _as_json(value: Any) -> str:
    encoder = msgspec.json.Encoder(decimal_format="number")
    return json.dumps(json.loads(encoder.encode(value)), indent=2)
