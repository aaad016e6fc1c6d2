"""Load homes of an odd shape, and append one line to each transcript among them.

Memory must not grow with one session, one document or the number of lines; nor may a
turn cost what its whole session does.
"""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from generator.shapes import giant_session, huge_document, tiny_lines
from measure import Row, agentlake, forget, say

PEAK_MB = 1500
GIANT_MB = (200, 600)
TINY_LINES = 5_000_000
DOCUMENT_MB = 193
_TAIL = 4_000_000
_ROUNDS = 3


def shape_rows(place: Path) -> Iterator[Row]:
    """Peak memory of each shape, and what a turn of a giant session takes."""
    for megabytes in GIANT_MB:
        what = f"a session of {megabytes} MB"
        yield from _loaded(place, what, partial(giant_session, megabytes=megabytes))
        best = min(_appended(place) for _ in range(_ROUNDS))
        yield Row(f"one line appended, {what}", f"{best:.2f} s", "2 s", best < 2)
    tiny = f"{TINY_LINES:,} tiny lines"
    yield from _loaded(place, tiny, partial(tiny_lines, count=TINY_LINES))
    document = f"a document of {DOCUMENT_MB} MB"
    yield from _loaded(place, document, partial(huge_document, megabytes=DOCUMENT_MB))


def _loaded(place: Path, what: str, make: Callable[[Path], None]) -> Iterator[Row]:
    home, lake = place / "shape", place / "shape.duckdb"
    shutil.rmtree(home, ignore_errors=True)
    forget(lake)
    say(f"generating {what} ...")
    make(home)
    run = agentlake(lake, "load", "--home", str(home))
    measured = f"{run.peak_mb:,.0f} MB, {run.seconds:.0f} s"
    yield Row(f"first load, {what}", measured, f"{PEAK_MB:,} MB", run.peak_mb < PEAK_MB)


def _appended(place: Path) -> float:
    """The seconds that a load takes of one more reply in the largest transcript."""
    home = place / "shape"
    append(max(home.rglob("*.jsonl"), key=lambda path: path.stat().st_size))
    return agentlake(place / "shape.duckdb", "load", "--home", str(home)).seconds


def append(stream: Path) -> None:
    """Write one more reply at the end: the last one, under another id."""
    with stream.open("rb+") as file:
        file.seek(max(0, stream.stat().st_size - _TAIL))
        lines = file.read().split(b"\n")[1:]
        record = json.loads([line for line in lines if b'"usage"' in line][-1])
        record["uuid"] = f"bench-{time.time_ns()}"
        record["message"]["id"] = f"msg_bench_{time.time_ns()}"
        file.write(json.dumps(record).encode() + b"\n")
