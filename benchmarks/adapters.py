"""Measure each adapter by itself, on its golden cases: one row per source.

    python benchmarks/adapters.py [SOURCE ...]

parse      1 MB of records parsed; the cases' records are small, so real ones cost less
append     what a session that grew costs: its new lines, or the whole document or
           database where an agent rewrites that
unchanged  a stream that nobody has written to is recognized
discover   50 streams are found and signed, one case's folder after the other
"""

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from homes import plan_of
from playback import finish

from agentlake.adapters.registry import adapters
from agentlake.adapters.sdk.conformance import records_of, streams_of
from agentlake.adapters.sdk.contract import Adapter, Record, Stream
from agentlake.adapters.sdk.readers import jsonl
from agentlake.adapters.sdk.run import facts_of
from agentlake.fixtures import FIXTURES_DIR
from agentlake.pipelines.ingest.signature import signature_of

BARS_MS = {"parse": 50.0, "append": 10.0, "unchanged": 1.0, "discover": 50.0}
_MEGABYTE = 1_000_000
_SESSIONS = 50
_ROUNDS_S = 0.3
_Row = tuple[str, str, str, bool]


def adapter_rows() -> Iterator[_Row]:
    """What was measured, how long it took, the bar, and whether it is met."""
    for source, took_ms in measured():
        shown = ", ".join(f"{name} {ms:.2f}" for name, ms in took_ms.items())
        is_met = all(ms < BARS_MS[name] for name, ms in took_ms.items())
        yield source, f"{shown} ms", "", is_met


def measured(sources: Sequence[str] = ()) -> Iterator[tuple[str, dict[str, float]]]:
    """Milliseconds for each source."""
    for source, adapter in adapters().items():
        if sources and source not in sources:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            roots = list(_roots(source, Path(scratch)))
            yield source, _measured(adapter, roots)


def _roots(source: str, scratch: Path) -> Iterator[Path]:
    """The folders of the agent in each of its cases, with databases made."""
    for case in sorted(FIXTURES_DIR.glob(f"sources/{source}/*/home")):
        home = scratch / case.parent.name
        finish(case, home)
        yield from plan_of(source, home).roots


def _measured(adapter: Adapter, roots: Sequence[Path]) -> dict[str, float]:
    streams = [one for root in roots for one in streams_of(adapter, root)]
    records = {one.path: _records(adapter, one) for one in streams}
    every = [record for some in records.values() for record in some]
    size = sum(len(record.data) for record in every)
    parse = _best(lambda: [facts_of(adapter, one) for one in every])
    grown = max(streams, key=lambda one: sum(len(it.data) for it in records[one.path]))
    before = signature_of(grown.path, grown.reader)
    found = _best(
        lambda: [
            signature_of(one.path, one.reader)
            for root in roots
            for one in streams_of(adapter, root)
        ]
    )
    return {
        "parse": parse * _MEGABYTE / size,
        "append": _appended(adapter, grown, records[grown.path]),
        "unchanged": _best(
            lambda: signature_of(grown.path, grown.reader).is_unchanged(before)
        ),
        "discover": found * _SESSIONS / len(streams),
    }


def _records(adapter: Adapter, stream: Stream) -> list[Record]:
    try:
        return list(records_of(adapter, stream))
    except (OSError, ValueError, EOFError, sqlite3.Error):
        return []  # a case of damage


def _appended(adapter: Adapter, stream: Stream, known: Sequence[Record]) -> float:
    if stream.reader != "jsonl" or not Path(stream.path).read_bytes().endswith(b"\n"):
        return _best(
            lambda: [facts_of(adapter, one) for one in records_of(adapter, stream)]
        )
    cursor = list(jsonl.read(stream.path, None))[-1].cursor
    with Path(stream.path).open("ab") as file:
        file.write(known[0].data + b"\n")

    def read_on() -> None:
        assert jsonl.continues(stream.path, cursor)
        for batch in jsonl.read(stream.path, cursor):
            for one in batch.lines:
                record = Record(stream, one.seq, one.offset, "k", one.data or b"")
                facts_of(adapter, record)

    return _best(read_on)


def _best(do: Callable[[], object]) -> float:
    """The shortest of some rounds, in ms."""
    shortest, end = float("inf"), time.perf_counter() + _ROUNDS_S
    while (start := time.perf_counter()) < end or shortest == float("inf"):
        do()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest * 1000


def main(sources: Sequence[str]) -> int:
    """Print the table; 0 when every bar is met."""
    print(f"{'ms':<16}" + "".join(f"{name:>12}" for name in BARS_MS))
    print(f"{'at most':<16}" + "".join(f"{bar:>12.0f}" for bar in BARS_MS.values()))
    missed = 0
    for source, took_ms in measured(sources):
        cells = ""
        for name, ms in took_ms.items():
            is_missed = ms >= BARS_MS[name]
            missed += is_missed
            cells += f"{ms:>11.2f}{'!' if is_missed else ' '}"
        print(f"{source:<16}{cells}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
