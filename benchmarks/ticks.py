"""Measure what one scan of 50,000 streams costs the sensor and `agentlake watch`.

The bar is 0.5 s a tick (docs/design.md). The first scan of a process lists and stats
everything; the ones after it are what is paid for ever.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from agentlake.adapters.registry import adapters
from agentlake.pipelines.ingest.changes import baseline_after, decide
from agentlake.pipelines.ingest.listing import SourcePlan
from agentlake.pipelines.ingest.scanner import Scanner

BAR_S = 0.5
_DAYS = 86_400


def write(home: Path, streams: int) -> None:
    """A home with so many sessions: by both agents, one in 500 of today."""
    old = time.time() - 9 * _DAYS
    for number in range(streams // 2):
        tail = f"{number:08x}-0000-4000-8000-{number:012x}.jsonl"
        day = f"2026/{number // 2800 % 12 + 1:02}/{number // 100 % 28 + 1:02}"
        for path in (
            home / f".claude/projects/-home-ada-{number // 125}/{tail}",
            home / f".codex/sessions/{day}/rollout-2026-01-01T00-00-00-{tail}",
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}\n")
            if number % 500:
                os.utime(path, (old, old))


def ticks(home: Path) -> Iterator[tuple[str, float]]:
    """What happened before each tick, and its seconds."""
    places = {"claude_code": ".claude", "codex": ".codex"}
    scanners = [
        Scanner(SourcePlan(adapter=adapters()[source], roots=[home / place]))
        for source, place in places.items()
    ]
    baselines = {}

    def tick() -> float:
        start = time.process_time()
        now = time.time()
        snapshots = [one.scan(now) for one in scanners]
        decision = decide(snapshots, baselines, {}, now)
        took = time.process_time() - start
        for one in snapshots:
            if one.source in decision.load:
                chosen = decision.load[one.source]
                before = baselines.get(one.source)
                baselines[one.source] = baseline_after(one, before, chosen, now)
        return took

    yield "the first scan of a process", tick()
    time.sleep(2.5)  # until a folder's time is sure to move on
    tick()
    for _ in range(5):
        yield "nothing", tick()
    live = next((home / ".claude/projects").rglob("*.jsonl"))
    for _ in range(5):
        with live.open("a") as file:
            file.write("{}\n")
        yield "a line appended", tick()
    for number in range(3):
        live.with_name(f"new{number}.jsonl").write_text("{}\n")
        yield "a new session", tick()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=50_000)
    streams = parser.parse_args().streams
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), streams)
        found: dict[str, list[float]] = {}
        for what, seconds in ticks(Path(folder)):
            found.setdefault(what, []).append(seconds)
    print(f"{streams:,} streams, bar {BAR_S} s a tick")
    for what, times in found.items():
        print(f"{what:30} median {sorted(times)[len(times) // 2]:.3f} CPU-s")


if __name__ == "__main__":
    main()
