"""Play a finished home back into an empty one, as its agents might have written it.

    python benchmarks/playback.py FINISHED HOME --seconds 3600 [--idle 150] [--seed 1]

Transcripts grow in pieces that end anywhere, documents are first seen half written,
databases are filled statement by statement through a connection that stays open. Files
are replaced by equal ones, archived, compressed and, `--idle` seconds after their last
line, deleted: so long has whoever loads them.
"""

import argparse
import heapq
import itertools
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from agentlake.adapters.sdk.zstd import library

Acts = Iterator[tuple[float, Callable[[], object]]]
"""What to do, and at which second."""


_open: dict[Path, sqlite3.Connection] = {}
"""The databases; an agent keeps its own open as long as it runs."""


def play(finished: Path, home: Path, seconds: float, idle: float, seed: int) -> None:
    """Do everything at its time; the home then holds what nobody deleted."""
    rng = Random(seed)
    number = itertools.count()
    home.mkdir(exist_ok=True)
    waiting: list[tuple[float, int, Callable[[], object]]] = []
    for path in sorted(it for it in finished.rglob("*") if it.is_file()):
        to = home / path.relative_to(finished)
        for at, act in _acts(path, to, seconds, idle, Random(rng.random())):
            heapq.heappush(waiting, (at, next(number), act))
    began = time.monotonic()
    while waiting:
        at, _, act = heapq.heappop(waiting)
        time.sleep(max(0.0, began + at - time.monotonic()))
        act()


def _acts(path: Path, to: Path, seconds: float, idle: float, rng: Random) -> Acts:
    start = rng.uniform(0, 0.6 * seconds)
    end = start + rng.uniform(0, 0.25 * seconds)
    yield start, lambda: to.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".sql":
        yield from _database(path, to.with_suffix(""), start, end)
    elif path.suffix == ".jsonl":
        yield from _transcript(path, to, start, end, rng)
        yield from _afterwards(to, end + 1, end + 1 + idle, rng)
    else:
        yield from _document(path, to, start, rng)


def _transcript(path: Path, to: Path, start: float, end: float, rng: Random) -> Acts:
    """Appended piece by piece; some are replaced by an equal file in between."""
    data = path.read_bytes()
    pieces = min(40, 2 + len(data) // 4000)
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(pieces - 1))
    for number, (low, high) in enumerate(itertools.pairwise([0, *cuts, len(data)])):
        at = start + (end - start) * number / pieces
        yield at, lambda low=low, high=high: _append(to, data[low:high])
        if rng.random() < 0.03:
            yield at, lambda: _replace(to, to.read_bytes())
        is_slow = (end - start) / pieces > 20 and number < pieces - 1
        if is_slow and rng.random() < 0.1:  # copied in place, and seen in the middle
            cut = rng.choice((0, 10, high // 2))
            yield at + 1, lambda cut=cut: to.write_bytes(data[:cut])
            yield at + 15, lambda high=high: to.write_bytes(data[:high])


def _afterwards(to: Path, end: float, gone: float, rng: Random) -> Acts:
    """What becomes of a complete transcript."""
    at = to
    if "/.codex/sessions/" in str(to):
        match rng.choice(("archive", "compress", "stay")):
            case "archive":
                root = next(it for it in to.parents if it.name == ".codex")
                at = root / "archived_sessions" / to.name
                yield end, lambda: at.parent.mkdir(exist_ok=True)
                yield end, lambda: to.rename(at)
            case "compress":
                at = to.with_name(f"{to.name}.zst")
                yield end, lambda: _compress(to, at)
            case _:
                pass
    if rng.random() < 0.5:
        yield gone, at.unlink


def _document(path: Path, to: Path, start: float, rng: Random) -> Acts:
    data = path.read_bytes()
    if rng.random() < 0.5:
        yield start, lambda: to.write_bytes(data[: len(data) // 2])
    yield start + 3, lambda: _replace(to, data)


def _database(script: Path, to: Path, start: float, end: float) -> Acts:
    """Statement by statement, each a commit; what is written stays in the log."""
    statements = list(_statements(script.read_text()))

    def opened() -> None:
        _open[to] = sqlite3.connect(to, isolation_level=None, timeout=10)
        _open[to].execute("pragma journal_mode = wal")

    yield start, opened
    for number, text in enumerate(statements):
        at = start + (end - start) * number / len(statements)
        yield at, lambda text=text: _open[to].execute(text)


def _statements(script: str) -> Iterator[str]:
    text = ""
    for line in script.splitlines(keepends=True):
        text += line
        if sqlite3.complete_statement(text):
            yield text
            text = ""


def _append(to: Path, data: bytes) -> None:
    with to.open("ab") as file:
        file.write(data)


def _replace(to: Path, data: bytes) -> None:
    beside = to.with_name(f".{to.name}.new")
    beside.write_bytes(data)
    beside.replace(to)


def _compress(to: Path, at: Path) -> None:
    _replace(at, library().compress(to.read_bytes()))
    to.unlink()


def finish(finished: Path, to: Path) -> None:
    """The same home as if all was written at once and nothing deleted."""
    shutil.copytree(finished, to, copy_function=shutil.copy)
    for script in [*to.rglob("*.sql")]:
        database = sqlite3.connect(script.with_suffix(""))
        database.executescript(script.read_text())
        database.close()
        script.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("finished", type=Path)
    parser.add_argument("home", type=Path)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--idle", type=float, default=150)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    os.umask(0o077)
    play(args.finished, args.home, args.seconds, args.idle, args.seed)
    print("done", flush=True)


if __name__ == "__main__":
    main()
