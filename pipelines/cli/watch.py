"""`agentlake watch`: load what agents write, as they write it."""

import signal
import sys
from argparse import Namespace
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from threading import Event
from zoneinfo import ZoneInfo

from agentlake.errors import SourceError, UserError
from agentlake.pipelines.cli.load import Progress, print_deferred
from agentlake.pipelines.cli.table import counted, duration
from agentlake.pipelines.cli.width import clean
from agentlake.pipelines.ingest.report import LoadReport
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.watching import Loads, Watching, watch


def run(args: Namespace, settings: Settings, environ: Mapping[str, str]) -> int:
    """Watch until Ctrl-C or a signal to end: both end it well."""
    stop = Event()
    lines = _Lines(settings, stop)
    watching = Watching(
        settings,
        environ,
        on_load=lines.loaded,
        on_error=lines.failed,
        on_progress=lines.loading,
        on_refresh=lines.progress.refreshing,
    )
    before = _on_signals(stop)
    try:
        places = watching.places()
        lines.say(
            f"watching {counted(len(places), 'place')} for {settings.warehouse};"
            " Ctrl-C ends it"
        )
        watch(watching, stop, poll=args.poll, on_silent=lines.silent)
    except KeyboardInterrupt:
        stop.set()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    lines.say("stopped; what was loaded stays")
    return 0


def _on_signals(stop: Event) -> dict[int, "signal._HANDLER"]:
    """Let the first signal end it between two streams, and a second one at once."""

    def handle(number: int, _: object) -> None:
        stop.set()
        signal.signal(number, signal.default_int_handler)

    numbers = (signal.SIGINT, signal.SIGTERM)
    return {number: signal.signal(number, handle) for number in numbers}


class _Lines:
    """What is said on stderr: one line for each load, and each problem once."""

    def __init__(self, settings: Settings, stop: Event) -> None:
        self.progress = Progress(wanted=sys.stderr.isatty())
        self._zone = ZoneInfo(settings.time_zone)
        self._stop = stop
        self._failure = ""

    def say(self, text: str) -> None:
        self.progress.clear()
        now = f"{datetime.now(self._zone):%H:%M:%S}"
        print(f"{now}  {clean(text)}", file=sys.stderr, flush=True)

    def loading(self, report: LoadReport) -> None:
        """Show how far a long load is; end it here if that was asked for."""
        if self._stop.is_set():
            raise KeyboardInterrupt
        self.progress.loading(report)

    def loaded(self, done: Loads) -> None:
        self._failure = ""
        report = done.result.report
        parts = [
            f"{one.source} {counted(one.records, 'record')}"
            f" of {counted(one.read, 'stream')}"
            for one in report.sources.values()
            if one.records
        ]
        if replayed := report.total("replayed"):
            parts.append(f"{counted(replayed, 'record')} parsed again")
        if rejects := report.total("rejects"):
            parts.append(f"{counted(rejects, 'reject')}: `agentlake rejects`")
        took = f"in {duration(round(done.seconds * 1000))}"
        if done.lag_s is not None and parts:
            took += f", {duration(round(done.lag_s * 1000))} after it was written"
        self.say(f"{', '.join(parts) or 'nothing new'}  {took}")
        print_deferred(report)

    def failed(self, sources: Collection[str], error: Exception) -> None:
        what = str(error) if isinstance(error, UserError | SourceError) else repr(error)
        text = f"{', '.join(sources)}: {what} Tried again by itself."
        if text != self._failure:  # once, not with every try
            self._failure = text
            self.say(text)

    def silent(self, places: Sequence[Path], why: str) -> None:
        self.say(f"looking every second at {', '.join(map(str, places))}: {why}")
