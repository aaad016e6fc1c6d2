"""`agentlake doctor`: what was found where, and what needs a look."""

from argparse import Namespace
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec

from agentlake.pipelines.cli.places import places
from agentlake.pipelines.cli.table import clean, counted, size
from agentlake.pipelines.load.health import (
    SOON_DAYS,
    Health,
    SourceHealth,
    Unloaded,
    examine,
)
from agentlake.pipelines.settings import Settings

_MOST_SHOWN = 5


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
    if health.busy:
        yield f"  busy       {health.busy}"
    zone = ZoneInfo(health.time_zone)
    for one in health.sources:
        yield ""
        yield from _source(one, zone, Path(health.home))
    for reason in health.broken:
        yield ""
        yield f"! broken     an adapter of yours was left out: {reason}"
    if health.unpriced:
        yield ""
        yield "unpriced     calls of these models have no known cost:"
        for model in health.unpriced[:_MOST_SHOWN]:
            name = model.model or "(no model)"
            yield f"             {model.source} {name}: {counted(model.calls, 'call')}"
        yield from _more(len(health.unpriced))
    yield ""
    yield (
        "All is well." if health.is_fine else "Something needs you: see the lines in !"
    )


def _source(one: SourceHealth, zone: ZoneInfo, home: Path) -> Iterator[str]:
    if not one.enabled:
        yield f"{one.source:12} switched off in the settings"
    elif one.found:
        yield f"{one.source:12} found in {', '.join(one.roots)}"
        yield f"  on disk    {counted(one.streams_on_disk, 'stream')}{_not_loaded(one)}"
        if one.unloaded:
            yield from _clean_up(one.unloaded)
    else:
        yield f"{one.source:12} not found (looked in {places(one.looked_in, home)})"
    if one.streams:
        gone = (
            f", {one.missing:,} of them gone from disk at the last load"
            if one.missing
            else ""
        )
        records = counted(one.records or 0, "record")
        yield f"  loaded     {counted(one.streams, 'stream')}{gone}, {records}"
        yield (
            f"  newest     loaded {_local(one.last_loaded_at, zone)},"
            f" message {_local(one.last_message_at, zone)}"
        )
    yield from _attention(one)


def _attention(one: SourceHealth) -> Iterator[str]:
    """What is not as it should be; in ! what needs the user."""
    if one.waiting:
        verb = "ends" if one.waiting == 1 else "end"
        yield f"  waiting    {counted(one.waiting, 'stream')} {verb} in half a line"
    if one.problem:
        yield f"! broken     {one.problem}; this source was left out"
    for warning in one.warnings:
        yield f"! agent      {warning}"
    for note in one.notes:
        yield f"  note       {note}"
    if one.moved:
        yield "  moved      none of its folders is there now; what was loaded is kept"
    if one.gone:
        yield f"  deleted    {counted(one.gone, 'message')} by the agent, kept here"
    if one.rewritten:
        yield f"  rewritten  {counted(one.rewritten, 'stream')} by the agent, both kept"
    for path in one.not_understood[:_MOST_SHOWN]:
        yield f"  unknown    {path}: no record of it was understood; kept in raw"
    yield from _not_read(one)


def _not_read(one: SourceHealth) -> Iterator[str]:
    for place in one.deferred[:_MOST_SHOWN]:
        yield f"! deferred   {place.path}: {place.reason}; retried by the next load"
    yield from _more(len(one.deferred))
    if one.rejects:
        yield f"  rejects    {one.rejects:,}, see `agentlake rejects`; the last are:"
        for place in one.last_rejects:
            yield f"             {place.path}:{place.line}  {place.reason}"


def _not_loaded(one: SourceHealth) -> str:
    unloaded = one.unloaded
    if unloaded is None or not one.streams_on_disk:
        return ""
    if not unloaded.streams:  # what is deferred has a line of its own
        return "" if one.deferred else ", all loaded"
    days = unloaded.oldest_age_days
    unchanged = (
        "" if days is None else f" (unchanged for {counted(days, 'day')} at most)"
    )
    return f", {unloaded.streams:,} with something not loaded{unchanged}"


def _clean_up(unloaded: Unloaded) -> Iterator[str]:
    days = unloaded.deleted_after_days
    if days is None:
        return
    yield f"  clean-up   the agent deletes what is unchanged for {days:,} days"
    if lost := unloaded.about_to_be_lost:
        yield (
            f"! at risk    {lost:,} of its streams are not loaded and about to be lost"
            f" (within {SOON_DAYS} days): run `agentlake load`. The oldest:"
            f" {unloaded.oldest_path}"
        )


def _more(total: int) -> Iterator[str]:
    if total > _MOST_SHOWN:
        yield f"             ... and {total - _MOST_SHOWN:,} more: --json has all"


def _local(moment: datetime | None, zone: ZoneInfo) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}" if moment else "-"
