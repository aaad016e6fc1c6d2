"""Homes that a disk, a crash or a stranger has spoiled: is all else still read?

    python benchmarks/fuzz.py [--seconds 600 | --homes 1000] [--seed 1] [--source codex]
    python benchmarks/fuzz.py --number 1000123        # one of them, with all it says

Each home is a golden case with one odd thing in it (`spoil.py`). An odd value may cost
its record, never the stream; a damage may cost its file, never another one; nothing may
raise. One in `--load-every` is loaded into a warehouse, too, and every report and the
doctor are asked. What is found becomes a fixture. The exit code is 1 if anything is.
"""

import argparse
import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from homes import plan_of
from playback import finish
from spoil import Choice, damage, odd_value

from agentlake.adapters.sdk.conformance import records_of
from agentlake.adapters.sdk.readers.chunks import NEEDS, chunks
from agentlake.adapters.sdk.run import facts_of
from agentlake.adapters.sdk.scan import within
from agentlake.errors import SourceError
from agentlake.fixtures import FIXTURES_DIR
from agentlake.models.usage import Usage
from agentlake.pipelines.cli import main as command
from agentlake.pipelines.ingest.batch import Batch, Origin
from agentlake.pipelines.ingest.listing import list_streams

DAMAGES = 0.2
"""The part of homes in which a file is damaged as a whole."""
REPORTS = ("daily", "session", "model", "project", "tool")


class Read:
    """What a source says of a home."""

    def __init__(self, source, home):
        self.usage = Counter()
        self.rejects = []
        self.failed = []
        self.batch = Batch(source)
        plan = plan_of(source, home)
        listing = list_streams(plan)
        self.broken = list(listing.problems)
        self._home = home
        with within([str(root) for root in plan.roots]):
            for _, stream in listing.streams.values():
                self._read(plan.adapter, stream)
        self.batch.tables(1)
        self.rejects += [reason for _, reason in self.batch._rejects]

    def _read(self, adapter, stream):
        try:
            records = list(records_of(adapter, stream))
            if stream.reader in NEEDS:
                read_again(adapter, stream)
        except SourceError as error:
            self.broken.append(f"{stream.path}: {error}")
            return
        except Exception as error:  # noqa: BLE001 - what a damaged file makes of it
            self.failed.append(f"{stream.path}: {type(error).__name__}: {error}")
            return
        for record in records:
            facts, rejects = facts_of(adapter, record)
            place = os.path.relpath(stream.path, self._home)
            self.usage[place] += sum(isinstance(it, Usage) for it in facts)
            self.batch.add(record, Origin(1, 0, record.key), facts, rejects)


def read_again(adapter, stream):
    """Go on from where the first reading ended, as the next load does."""
    cursor = None
    for chunk in chunks(adapter, stream, stream.path, None, {}):
        cursor = json.loads(json.dumps(chunk.cursor))
    for chunk in chunks(adapter, stream, stream.path, cursor, {}):
        json.dumps(chunk.cursor)


class Fuzz:
    """Homes by number: the same number is the same home."""

    def __init__(self, source, load_every):
        self._cases = sorted(FIXTURES_DIR.glob(f"sources/{source or '*'}/*/home"))
        self._load_every = load_every
        self._before = {}
        self._scratch = tempfile.TemporaryDirectory(prefix="agentlake-fuzz-")

    def problem(self, number, *, tell=False):
        """What may not be and is, in the home of this number."""
        choose = Choice(number)
        case = choose.choice(self._cases)
        source = case.parts[-3]
        if case not in self._before:
            whole = Path(self._scratch.name, "-".join(case.parts[-3:-1]))
            finish(case, whole)
            self._before[case] = whole, Read(source, whole)
        whole, before = self._before[case]
        with tempfile.TemporaryDirectory(dir=self._scratch.name) as folder:
            home = Path(folder, "home")
            shutil.copytree(whole, home, copy_function=shutil.copy)
            files = sorted(path for path in home.rglob("*") if path.is_file())
            path = choose.choice(files)
            is_damage = choose.random() < DAMAGES
            done = (damage if is_damage else odd_value)(choose, path)
            if done is None:
                return None
            about = (
                f"{case.parts[-3]}/{case.parts[-2]} {path.relative_to(home)}: {done}"
            )
            try:
                after = Read(source, home)
                wrong = wrong_with(before, after, is_damage=is_damage)
                if number % self._load_every == 0:
                    wrong = wrong or wrong_when_loaded(home, Path(folder))
            except Exception:  # noqa: BLE001 - that is what is looked for
                wrong = traceback.format_exc()
            if tell:
                print(about, *after.rejects, *after.failed, *after.broken, sep="\n  ")
        return f"{number}: {about}\n{wrong}" if wrong else None


def wrong_with(before, after, *, is_damage):
    if after.broken:
        return after.broken[0]
    inside = [reason for reason in after.rejects if " in parse: " in reason]
    if inside:
        return inside[0]
    if not is_damage and after.failed and not before.failed:
        return f"an odd value costs a stream: {after.failed[0]}"
    lost = {
        name: count
        for name, count in before.usage.items()
        if not is_damage and count - after.usage[name] > count // 2 + 1
    }
    return f"an odd value costs most of a stream: {lost}" if lost else None


def wrong_when_loaded(home, folder):
    environ = {"HOME": str(home), "AGENTLAKE_WAREHOUSE": str(folder / "w.duckdb")}
    commands = [
        ("load",),
        ("load",),
        ("doctor",),
        ("rejects",),
        ("replay",),
        ("verify",),
    ]
    commands += [("report", name, "--tz", "Pacific/Kiritimati") for name in REPORTS]
    for words in commands:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = command(words, environ)
        if code not in (0, 1) or "Traceback" in err.getvalue():
            return f"agentlake {' '.join(words)}: exit {code}\n{err.getvalue()}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--homes", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--source")
    parser.add_argument("--number", type=int)
    parser.add_argument("--load-every", type=int, default=200)
    args = parser.parse_args()
    fuzz = Fuzz(args.source, args.load_every)
    if args.number:
        print(fuzz.problem(args.number, tell=True) or "nothing wrong")
        return 0
    end = time.monotonic() + args.seconds
    tried, kinds = 0, Counter()
    while time.monotonic() < end and tried < args.homes:
        tried += 1
        if found := fuzz.problem(args.seed * 10**6 + tried):
            kind = found.splitlines()[-1][-120:]
            if not kinds[kind]:
                print(f"{found}\n", flush=True)
            kinds[kind] += 1
    print(f"{tried:,} homes, {sum(kinds.values())} with something wrong")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
