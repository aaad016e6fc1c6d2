"""Measure each adapter by itself: parse, read on, recognize, discover and sign."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from agentlake.adapters.registry import adapters
from agentlake.adapters.sdk.contract import Adapter, Record, Stream
from agentlake.adapters.sdk.readers import jsonl
from agentlake.adapters.sdk.run import facts_of
from agentlake.pipelines.ingest.signature import signature_of

BARS_MS = {"parse": 50, "append": 10, "unchanged": 1, "discover": 50}
_PLACES = {"claude_code": ".claude", "codex": ".codex"}
_Row = tuple[str, str, str, bool]


def adapter_rows(home: Path) -> Iterator[_Row]:
    """What was measured, how long it took, the bar, and whether it is met."""
    for source, adapter in adapters().items():
        yield from _adapter_rows(source, adapter, home / _PLACES[source])


def _adapter_rows(source: str, adapter: Adapter, root: Path) -> Iterator[_Row]:
    streams = [
        stream
        for stream in adapter.discover(str(root), {})
        if stream.reader == "jsonl" and stream.path.endswith(".jsonl")
    ]
    largest = max(streams, key=lambda stream: Path(stream.path).stat().st_size)
    records = _records(largest, 1_000_000)
    size = sum(len(record.data) for record in records)
    parse = _best(lambda: [facts_of(adapter, one) for one in records])
    yield _row(source, "1 MB parsed", parse * 1_000_000 / size, BARS_MS["parse"])
    with tempfile.TemporaryDirectory() as scratch:
        yield from _small(source, adapter, streams, Path(scratch), root)


def _small(
    source: str, adapter: Adapter, streams: list[Stream], scratch: Path, root: Path
) -> Iterator[_Row]:
    copy = scratch / Path(streams[0].path).name
    shutil.copy(streams[0].path, copy)
    cursor = list(jsonl.read(str(copy), None))[-1].cursor
    line = _records(streams[0], 1)[0].data
    with copy.open("ab") as file:
        file.write(line + b"\n")

    def read_on() -> None:
        assert jsonl.continues(str(copy), cursor)
        for batch in jsonl.read(str(copy), cursor):
            for one in batch.lines:
                record = Record(streams[0], one.seq, one.offset, "k", one.data or b"")
                facts_of(adapter, record)

    yield _row(source, "an appended line read", _best(read_on), BARS_MS["append"])
    before = signature_of(str(copy))
    same = _best(lambda: signature_of(str(copy)) == before)
    yield _row(source, "an unchanged stream recognized", same, BARS_MS["unchanged"])
    some = scratch / "some"
    for stream in streams[:50]:
        target = some / Path(stream.path).relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(stream.path, target)
    found = _best(
        lambda: [signature_of(one.path) for one in adapter.discover(str(some), {})]
    )
    yield _row(source, "50 sessions found and signed", found, BARS_MS["discover"])


def _records(stream: Stream, size: int) -> list[Record]:
    records: list[Record] = []
    for batch in jsonl.read(stream.path, None):
        for line in batch.lines:
            if size <= 0:
                return records
            data = line.data or b""
            records.append(Record(stream, line.seq, line.offset, str(line.seq), data))
            size -= line.size
    return records


def _best(do: Callable[[], object], rounds: int = 7) -> float:
    """The shortest of some rounds, in ms."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        do()
        times.append(time.perf_counter() - start)
    return min(times) * 1000


def _row(source: str, what: str, took_ms: float, bar_ms: float) -> _Row:
    return f"{source}: {what}", f"{took_ms:.2f} ms", f"{bar_ms} ms", took_ms < bar_ms
