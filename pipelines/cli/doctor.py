"""`agentlake doctor`: what was found where, and what needs a look."""

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

import msgspec

from agentlake.pipelines import timing
from agentlake.pipelines.cli.table import Column, counted, render, size
from agentlake.pipelines.cli.width import clean
from agentlake.pipelines.health import (
    Health,
    SourceHealth,
    Unloaded,
    examine,
)
from agentlake.pipelines.prices.in_force import PriceList
from agentlake.pipelines.settings.settings import Settings

_MOST_SHOWN = 5
_COLUMNS = [
    Column(title="source"),
    Column(title="on disk", right=True),
    Column(title="not loaded", right=True),
    Column(title="loaded", right=True),
    Column(title="records", right=True),
    Column(title="newest message"),
    Column(title="deleted after", right=True),
    Column(title="noticed"),
]


def run(args: Namespace, settings: Settings, environ: Mapping[str, str]) -> int:
    """Print what is known; exit code 1 if something is deferred or will be lost."""
    health = examine(settings, environ)
    if args.json:
        text = msgspec.json.format(msgspec.json.encode(health), indent=2)
        print(text.decode())
    else:
        for line in _lines(health):
            print(clean(line))
    return 0 if health.is_fine else 1


def _lines(health: Health) -> Iterator[str]:
    there = "" if health.config_exists else " (not there: defaults)"
    yield f"settings     {health.config}{there}"
    yield f"home         {health.home}"
    yield f"time zone    {health.time_zone}"
    if health.warehouse_bytes is None:
        yield f"warehouse    {health.warehouse} (not there yet: `agentlake load`)"
    else:
        yield f"warehouse    {health.warehouse}, {size(health.warehouse_bytes)}"
    if len(health.files) > 1:
        parts = (f"{name} {size(bytes)}" for name, bytes in health.files.items())
        yield f"  on disk    {size(sum(health.files.values()))}: {', '.join(parts)}"
    for obstacle in health.obstacles:
        yield f"! {obstacle}"
    if health.busy and not health.obstacles:
        yield f"  busy       {health.busy}"
    here = [one for one in health.sources if _is_here(one)]
    if here:
        yield ""
        yield from _table(here, ZoneInfo(health.time_zone))
    for one in here:
        yield from _details(one)
    for reason in health.broken:
        yield f"! an adapter of yours was left out: {reason}"
    yield ""
    yield from _elsewhere(health)
    if health.unpriced:
        yield ""
        yield "unpriced     calls of these models have no known cost:"
        for model in health.unpriced[:_MOST_SHOWN]:
            name = model.model or "(no model)"
            calls = counted(model.calls, "call")
            yield f"             {model.source} {name}: {calls}; {model.because}"
        yield from _more(len(health.unpriced))
    if health.prices:
        yield ""
        yield from _prices(health.prices, ZoneInfo(health.time_zone))
    yield ""
    yield _verdict(health)


def _verdict(health: Health) -> str:
    if not health.is_fine:
        return "Something needs you: see the lines in !"
    if health.unread:
        verb = "waits" if health.unread == 1 else "wait"
        return f"{counted(health.unread, 'stream')} {verb} for `agentlake load`."
    if health.busy:
        return "The warehouse is in use: whether anything waits for a load is unknown."
    if not any(_is_here(one) for one in health.sources):
        return (
            f"No agent has left any history in {health.home}, and none is loaded."
            " `agentlake demo` shows what it would look like."
        )
    return "All is well."


def _is_here(one: SourceHealth) -> bool:
    return bool(one.enabled and one.found) or bool(one.streams) or bool(one.problem)


def _prices(prices: PriceList, zone: ZoneInfo) -> Iterator[str]:
    """Which prices hold since when, and what they changed of the past."""
    since = _local(prices.in_force_at, zone)
    yield f"prices       {prices.fingerprint}, since {since}"
    if prices.calls:
        yield (
            f"             {counted(prices.calls, 'call')} cost another sum since:"
            f" ${prices.before_usd or 0:,.2f}, now ${prices.after_usd or 0:,.2f};"
            " by month and model: `agentlake sql 'from meta.price_changes'`"
        )


def _table(sources: Sequence[SourceHealth], zone: ZoneInfo) -> Iterator[str]:
    """One line per source that is on this machine, or was."""
    rows = []
    for one in sources:
        unloaded = one.unloaded or Unloaded()
        days = unloaded.deleted_after_days
        rows.append(
            [
                one.source,
                f"{one.streams_on_disk:,}",
                f"{unloaded.streams:,}" if unloaded.streams else "-",
                "-" if one.streams is None else f"{one.streams:,}",
                "-" if one.records is None else f"{one.records:,}",
                _local(one.last_message_at, zone),
                "-" if days is None else counted(days, "day"),
                ", ".join(_needs(one)) or "-",
            ]
        )
    yield from render(_COLUMNS, rows).splitlines()


def _needs(one: SourceHealth) -> Iterator[str]:
    """What is not as it should be, in a word each."""
    if not one.enabled:
        yield "switched off in the settings"
    if one.unloaded and one.unloaded.about_to_be_lost:
        yield f"{one.unloaded.about_to_be_lost:,} about to be lost"
    for count, word in (
        (len(one.deferred), "deferred"),
        (len(one.warnings), "warned of"),
        (len(one.not_understood), "not understood"),
        (one.rejects, "rejected"),
        (sum(it.records for it in one.unknown_types), "of unknown types"),
        (one.waiting, "half written"),
        (one.missing, "gone from disk, kept here"),
        (one.gone, "deleted by the agent, kept here"),
        (one.rewritten, "rewritten by the agent, both kept"),
    ):
        if count:
            yield f"{count:,} {word}"
    if one.problem:
        yield "broken"
    if one.moved:
        yield "its folders are gone"


def _details(one: SourceHealth) -> Iterator[str]:
    """Which, where and what to do; in ! what is lost if nothing is done."""
    name = one.source
    if one.problem:
        yield f"! {name}: left out: {one.problem}"
    if one.unloaded and (lost := one.unloaded.about_to_be_lost):
        yield (
            f"! {name}: {lost:,} of its streams are not loaded and will be deleted by"
            f" the agent within {timing.SOON_LOST_DAYS} days: run `agentlake load`."
            " The oldest:"
            f" {one.unloaded.oldest_path}"
        )
    for warning in one.warnings:
        yield f"! {name}: {warning}"
    for note in one.notes:
        yield f"  {name}: {note}"
    for place in one.deferred[:_MOST_SHOWN]:
        yield f"! {name}: {place.path}: {place.reason}; retried by the next load"
    yield from _more(len(one.deferred))
    for path in one.not_understood[:_MOST_SHOWN]:
        yield f"  {name}: {path}: no record of it was understood; all are kept in raw"
    yield from _more(len(one.not_understood))
    for kind in one.unknown_types[:_MOST_SHOWN]:
        yield (
            f"  {name}: {counted(kind.records, 'record')} of the unknown type"
            f" {kind.type}, kept in raw; the latest: {kind.path}:{kind.line}"
        )
    yield from _more(len(one.unknown_types))
    if one.rejects:
        yield f"  {name}: see `agentlake rejects`; the last are:"
        for place in one.last_rejects:
            yield f"    {place.path}:{place.line}  {place.reason}"


def _elsewhere(health: Health) -> Iterator[str]:
    """What is not there, and where it was looked for if that is short."""
    absent = [one for one in health.sources if not _is_here(one)]
    off = [one.source for one in absent if not one.enabled]
    if off:
        yield f"switched off {', '.join(off)}"
    names = [one.source for one in absent if one.enabled]
    if names:
        yield f"not found    {', '.join(names)}"
        yield "             (`agentlake doctor --json` says where each was looked for)"


def _more(total: int) -> Iterator[str]:
    if total > _MOST_SHOWN:
        yield f"             ... and {total - _MOST_SHOWN:,} more: --json has all"


def _local(moment: datetime | None, zone: ZoneInfo) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}" if moment else "-"
