"""Measure the budgets: one command, side by side with the floor, in one run.

    python benchmarks/run.py                     434 MB, about ten minutes
    python benchmarks/run.py --megabytes 40      quick
    python benchmarks/run.py --large 4000        and one line appended to ten times that

The floor is what DuckDB needs to copy the same lines into one zstd table. Times on
a shared machine wobble, so a load is always judged against a floor taken right
before it. Every number is a whole process as a user starts it, unless it says so.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
from generate import generate
from measure import Row, Run, agentlake, forget, process, say
from shape_rows import append, shape_rows

from adapters import adapter_rows
from agentlake.pipelines.warehouse.copy_closed import guard_of

ROUNDS = 3
USAGE_ROWS = 1_000_000
LINE_FREE_MB = 500
LONG_LINE_MB = 100

_FLOOR = """
import duckdb, sys
con = duckdb.connect(sys.argv[1], config={"storage_compatibility_version": "v1.5.0"})
con.execute("create table lines (path varchar, line varchar using compression zstd)")
con.execute(
    "insert into lines select filename, json from read_ndjson_objects("
    "$files, filename = true, ignore_errors = true, maximum_object_size = 300000000)",
    {"files": sys.stdin.read().split("\\n")},
)
con.close()
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 0 when every bar is met."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=int, default=434)
    parser.add_argument("--large", type=int, help="also append to a home of that size")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="work in this folder and keep it")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        place = chosen.keep or Path(scratch)
        place.mkdir(parents=True, exist_ok=True)
        missed = 0
        for row in _rows(place, chosen):
            mark = {True: "ok", False: "MISSED", None: ""}[row.is_met]
            print(
                f"{row.what:<52} {row.measured:>24} {row.bar:>12}  {mark}", flush=True
            )
            missed += row.is_met is False
    return int(missed > 0)


def _rows(place: Path, chosen: argparse.Namespace) -> Iterator[Row]:
    home = _home(place, chosen.megabytes, chosen.seed)
    yield from _first_load(place, home)
    yield from _again(place / "lake.duckdb", home, f"{chosen.megabytes} MB")
    if chosen.large:
        large = _home(place, chosen.large, chosen.seed)
        forget(place / "large.duckdb")
        agentlake(place / "large.duckdb", "load", "--home", str(large))
        yield from _again(place / "large.duckdb", large, f"{chosen.large} MB")
    yield from _odd_files(place)
    yield from shape_rows(place)
    # Linux counts what this process holds to the peak of those that it starts, so
    # what makes it large comes last.
    yield from _report(place)
    yield from (Row(*row) for row in adapter_rows())


def _home(place: Path, megabytes: int, seed: int) -> Path:
    out = place / f"home-{megabytes}-{seed}"
    if not out.exists():
        say(f"generating {megabytes} MB ...")
        generate(out, megabytes, seed)
    return out / "home"


def _first_load(place: Path, home: Path) -> Iterator[Row]:
    files = [str(path) for path in home.rglob("*.jsonl")]
    size = sum(path.stat().st_size for path in home.rglob("*.jsonl*"))
    pairs: list[tuple[Run, Run]] = []
    for number in range(ROUNDS):
        say(f"first load, round {number + 1} of {ROUNDS} ...")
        floor_file, lake = place / "floor.duckdb", place / "lake.duckdb"
        floor_file.unlink(missing_ok=True)
        forget(lake)
        floor = process(
            [sys.executable, "-c", _FLOOR, str(floor_file)], given="\n".join(files)
        )
        pairs.append((floor, agentlake(lake, "load", "--home", str(home))))
    floor, load = min(pairs, key=lambda pair: pair[1].seconds / pair[0].seconds)
    ratio = load.seconds / floor.seconds
    yield Row("DuckDB copies the same lines (the floor)", f"{floor.seconds:.1f} s", "")
    yield Row(
        f"first load, {size / 1e6:.0f} MB, {len(files):,} files",
        f"{load.seconds:.1f} s = {ratio:.2f} x floor",
        "3 x floor",
        ratio <= 3,
    )
    peak = max(load.peak_mb for _, load in pairs)
    yield Row("  peak memory", f"{peak:,.0f} MB", "1,500 MB", peak < 1500)
    stored = (place / "lake.duckdb").stat().st_size / size
    yield Row("  warehouse / logs", f"{stored:.2f} x", "0.7 x", stored < 0.7)
    yield _published(place / "lake.duckdb")
    yield _truth(place / "lake.duckdb", home.parent / "expected.json")


def _published(lake: Path) -> Row:
    """How long the last copy for readers took, which is a part of the load."""
    seconds = float(guard_of(lake).read_text())
    return Row("  of which publishing", f"{seconds:.2f} s", "")


def _truth(lake: Path, expected: Path) -> Row:
    """Whether every total of the loaded home is what its generator wrote down."""
    names = ("calls", "input_tokens", "cache_read_tokens", "cache_write_tokens")
    names += ("output_tokens",)
    sums = ", ".join(f"sum({name})" for name in names[1:])
    with duckdb.connect(str(lake), read_only=True) as connection:
        rows = connection.execute(
            f"select source, count(*), {sums} from core.usage group by all"
        ).fetchall()
    found = {source: [int(value) for value in values] for source, *values in rows}
    sources = json.loads(expected.read_text())["sources"]
    wanted = {source: [one[name] for name in names] for source, one in sources.items()}
    return Row(
        "  totals against the generator's",
        "equal" if found == wanted else "differ",
        "equal",
        found == wanted,
    )


def _again(lake: Path, home: Path, size: str) -> Iterator[Row]:
    runs = [agentlake(lake, "load", "--home", str(home)) for _ in range(5)]
    best = min(run.seconds for run in runs)
    yield Row(f"nothing changed, {size}", f"{best:.2f} s", "0.35 s", best < 0.35)
    stream = max(home.rglob("projects/*/*.jsonl"), key=lambda path: path.stat().st_size)
    size_before = stream.stat().st_size
    runs = []
    for _ in range(5):
        append(stream)
        runs.append(agentlake(lake, "load", "--home", str(home)))
    best = min(run.seconds for run in runs)
    os.truncate(stream, size_before)  # the home is used again
    yield Row(f"one line appended, {size}", f"{best:.2f} s", "0.7 s", best < 0.7)
    yield _published(lake)


def _report(place: Path) -> Iterator[Row]:
    """`report daily` over as many calls as somebody has after years."""
    lake = place / "lake.duckdb"
    with duckdb.connect(str(lake)) as connection:
        (have,) = connection.execute("select count(*) from core.usage").fetchall()[0]
        connection.execute(
            f"""
            insert into core.usage by name
            select
                usage.* replace (
                    usage.usage_id || days.range as usage_id,
                    usage.called_at - to_days(cast(days.range as integer)) as called_at
                )
            from core.usage as usage, range({USAGE_ROWS // have}) as days
            """
        )
        (rows,) = connection.execute("select count(*) from core.usage").fetchall()[0]
    runs = [agentlake(lake, "report", "daily", "--json") for _ in range(5)]
    best = min(run.seconds for run in runs)
    yield Row(f"report daily, {rows:,} calls", f"{best:.2f} s", "0.5 s", best < 0.5)


def _odd_files(place: Path) -> Iterator[Row]:
    for what, parts in {
        f"a file of {LINE_FREE_MB} MB without a line end": (LINE_FREE_MB, b""),
        f"a line of {LONG_LINE_MB} MB": (LONG_LINE_MB, b'"}}\n'),
    }.items():
        size, end = parts
        home = place / "odd"
        folder = home / ".claude" / "projects" / "-odd"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "aaaaaaaa-0000-4000-8000-000000000001.jsonl").open("wb") as file:
            file.write(
                b'{"type":"user","uuid":"u","message":{"role":"user","content":"'
            )
            for _ in range(size):
                file.write(b"lorem ipsum dolor " * (1_000_000 // 18))
            file.write(end)
        lake = place / "odd.duckdb"
        forget(lake)
        peak = agentlake(lake, "load", "--home", str(home)).peak_mb
        yield Row(f"memory, {what}", f"{peak:,.0f} MB", "1,500 MB", peak < 1500)


if __name__ == "__main__":
    sys.exit(main())
