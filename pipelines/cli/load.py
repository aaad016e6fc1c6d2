"""`agentlake load`: bring in what changed, and show what that was."""

import json
import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Mapping
from pathlib import Path

from agentlake.adapters.registry import added
from agentlake.adapters.sdk.contract import Stream
from agentlake.errors import UserError
from agentlake.pipelines import timing
from agentlake.pipelines.cli.first_answer import print_first_answer
from agentlake.pipelines.cli.nearest import nearest
from agentlake.pipelines.cli.places import places
from agentlake.pipelines.cli.standard_streams import can_move
from agentlake.pipelines.cli.table import Column, count, is_bold, render, size
from agentlake.pipelines.cli.width import clean
from agentlake.pipelines.ingest.report import LoadReport, SourceReport
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.sync import NothingMatchesError, Selects, SyncResult, sync

_COLUMNS = [
    Column(title="source"),
    *(
        Column(title=title, right=True)
        for title in ("streams", "read", "records", "facts", "rejects", "time")
    ),
]
_MOST_SHOWN = 10
_LEFT_OUT = (
    "  left out; the other sources were loaded, and what it loaded earlier is kept"
)


def run(args: Namespace, settings: Settings, environ: Mapping[str, str]) -> int:
    """Load, print, and tell by the exit code whether something needs a look."""
    progress = Progress(wanted=not args.quiet and can_move(sys.stderr))
    is_first = not settings.warehouse.exists()
    try:
        result = sync(
            settings,
            environ=environ,
            sources=args.source,
            selects=selection(args.path, args.session),
            on_progress=progress.loading,
            on_refresh=progress.refreshing,
        )
    except NothingMatchesError as error:
        msg = f"{error}{nearest(args.session, error.streams)}"
        raise UserError(msg) from error
    finally:
        progress.clear()
    if args.json:
        print(as_json(result, settings))
    elif not args.quiet:
        print(as_table(result.report.sources.values(), settings.home))
        print_summary(result)
        if is_first:
            print_first_answer(settings)
    print_deferred(result.report)
    print_led_out(result.report)
    print_left_out(result.report)
    fine = (
        result.report.complete
        and not added().broken
        and not (args.strict and result.report.total("rejects"))
    )
    return 0 if fine else 1


def selection(path: Path | None, session: str | None) -> Selects | None:
    """Which streams are asked for; None where all are. UserError for a wrong path."""
    if path is None and session is None:
        return None
    places: set[str] = set()
    if path is not None:
        path = path.expanduser()
        if not path.exists():
            msg = f"--path {path}: there is no such file or folder."
            raise UserError(msg)
        places = {str(path.absolute()), str(path.resolve())}
    inside = tuple(f"{place.rstrip(os.sep)}{os.sep}" for place in places)

    def selects(stream: Stream) -> bool:
        if places and stream.path not in places and not stream.path.startswith(inside):
            return False
        return session is None or session in stream.path or session in stream.key

    return selects


class Progress:
    """One line on stderr that changes; nothing where nobody looks at it."""

    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted
        self._shown_at = 0.0

    def loading(self, report: LoadReport) -> None:
        """Say how far the load is, often but not too often."""
        now = time.monotonic()
        if now - self._shown_at > timing.PROGRESS_EVERY_S:
            self._shown_at = now
            records = report.total("records")  # of what is written already
            written = f", {records:,} records written" if records else ""
            self._show(f"{report.total('read'):,} streams read{written} ...")

    def refreshing(self) -> None:
        """Say that the models are being refreshed."""
        self._show("refreshing the models ...")

    def clear(self) -> None:
        """Leave the line as it was."""
        self._show("")

    def _show(self, text: str) -> None:
        if self._wanted:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def as_table(sources: Iterable[SourceReport], home: Path) -> str:
    """One line per source; one that is not there says where it was looked for.

    Where some are there, those that are not are only counted: there are many agents.
    """
    every = list(sources)
    found = [one for one in every if one.found] or every
    tails = {
        number: clean(f"not found (looked in {places(one.searched, home, most=2)})")
        for number, one in enumerate(found)
        if not one.found
    }
    rows = [
        [one.source, *map(count, _numbers(one)), f"{one.seconds:.1f}s"]
        if one.found
        else [one.source, *["-"] * 5, ""]
        for one in found
    ]
    table = render(_COLUMNS, rows, bold=is_bold(), tails=tails)
    if (others := len(every) - len(found)) > 0:
        table += f"\n{others:,} other agents not found: `agentlake doctor`"
    return table


def _numbers(one: SourceReport) -> tuple[int, ...]:
    return one.streams, one.read, one.records, one.facts, one.rejects


def print_summary(result: SyncResult) -> None:
    """Where it is now, how big, and what to look at; to stderr."""
    parts = [f"warehouse: {size(result.bytes)}, {result.warehouse}"]
    if replayed := result.report.total("replayed"):
        parts.insert(0, f"{replayed:,} records parsed again")
    if rejects := result.report.total("rejects"):
        noun = "reject" if rejects == 1 else "rejects"
        parts.insert(0, f"{rejects:,} new {noun}: `agentlake rejects`")
    print("     ".join(parts), file=sys.stderr)


def print_deferred(report: LoadReport) -> None:
    """Each stream that could not be read, and why; to stderr."""
    deferred = [
        (one.source, path, reason)
        for one in report.sources.values()
        for path, reason in one.deferred
    ]
    for source, path, reason in deferred[:_MOST_SHOWN]:
        text = clean(f"{source} {path}: {reason}")
        print(f"{text}\n  not loaded now; the next load tries again", file=sys.stderr)
    if (more := len(deferred) - _MOST_SHOWN) > 0:
        print(f"... and {more:,} more: `agentlake doctor`", file=sys.stderr)


def print_led_out(report: LoadReport) -> None:
    """Each link that leads out of its agent's folders; to stderr."""
    for one in report.sources.values():
        for path, real in one.led_out[:_MOST_SHOWN]:
            text = clean(f"{one.source} {path} leads out of its folders, to {real}")
            print(f"{text}\n  not followed: `agentlake doctor`", file=sys.stderr)


def print_left_out(report: LoadReport) -> None:
    """Each adapter that could not be used, and where it is broken; to stderr."""
    for one in report.sources.values():
        if one.problem:
            print(f"{one.source}: {clean(one.problem)}", file=sys.stderr)
            print(_LEFT_OUT, file=sys.stderr)
    for reason in added().broken.values():
        print(f"an adapter of yours: {clean(reason)}", file=sys.stderr)
        print(_LEFT_OUT, file=sys.stderr)


def as_json(result: SyncResult, settings: Settings) -> str:
    """All of it as one object."""
    import msgspec

    report = result.report
    sources = []
    for one in report.sources.values():
        said = msgspec.to_builtins(one)
        said["deferred"] = [{"path": path, "reason": why} for path, why in one.deferred]
        said["led_out"] = [{"path": path, "to": to} for path, to in one.led_out]
        said["searched"] = list(one.searched)
        said["seconds"] = round(one.seconds, 3)
        sources.append(said)
    models = [
        msgspec.to_builtins(one) | {"seconds": round(one.seconds, 3)}
        for one in result.refreshed
    ]
    return json.dumps(
        {
            "load_id": report.load_id,
            "started_at": report.started_at.isoformat().replace("+00:00", "Z"),
            "complete": report.complete,
            "time_zone": settings.time_zone,
            "warehouse": {"path": str(result.warehouse), "bytes": result.bytes},
            "sources": sources,
            "models": models,
        },
        indent=2,
    )
