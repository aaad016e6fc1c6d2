"""Make a synthetic home of logs, and the totals a loader must find in it.

    python benchmarks/generate.py OUT --megabytes 434 --seed 1 [--files 1400]

Writes OUT/home (.claude and .codex, shaped like a heavy user's) and OUT/expected.json.
The same arguments give the same bytes. Nothing here is or comes from a real log.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path
from random import Random

import msgspec
from generator.claude_home import ClaudeHome
from generator.codex_home import CodexHome
from generator.ledger import Expected
from generator.sizes import Sizes
from generator.text import Text

_FILES_PER_MB = 1400 / 434
_CODEX = 0.10  # of the bytes; the files are bigger, so fewer
_CODEX_FILES = 0.065
_MAINS, _AGENTS = 0.37, 0.51  # of Claude's files; the others are stubs and copies
_AGENT_BYTES = 0.22


def generate(
    out: Path, megabytes: int, seed: int = 1, files: int | None = None
) -> Expected:
    """Write OUT/home and OUT/expected.json anew; the expected totals.

    About `megabytes` (of decompressed transcripts) in about `files` files. Memory
    stays bounded, whatever the size.
    """
    if out.exists() and any(path.name not in _OURS for path in out.iterdir()):
        message = f"{out} holds files that are not ours; give an empty directory"
        raise FileExistsError(message)
    shutil.rmtree(out / "home", ignore_errors=True)
    rng = Random(f"{seed}/{megabytes}/{files}")
    text = Text(rng)
    total = megabytes * 1_000_000
    count = files or max(60, round(megabytes * _FILES_PER_MB))
    codex_files = max(24.0, count * _CODEX_FILES)
    claude_bytes, claude_files = total * (1 - _CODEX), count - codex_files
    largest = min(200_000_000, total // 8)

    def plan(share: float, part: float, sigma: float, most: int) -> Sizes:
        return Sizes(rng, max(1, round(share)), int(part), sigma, most)

    claude = ClaudeHome(
        out / "home" / ".claude" / "projects",
        text,
        plan(claude_files * _MAINS, claude_bytes * (1 - _AGENT_BYTES), 1.75, largest),
        plan(claude_files * _AGENTS, claude_bytes * _AGENT_BYTES, 2.1, 2_500_000),
    )
    codex = CodexHome(
        out / "home" / ".codex",
        text,
        plan(codex_files, total * _CODEX, 1.45, min(30_000_000, total // 80)),
    )
    expected = Expected(
        seed=seed,
        megabytes=megabytes,
        sources={
            "claude_code": claude.write(project_count=min(20, 5 + megabytes // 40)),
            "codex": codex.write(),
        },
    )
    pretty = msgspec.json.format(msgspec.json.encode(expected), indent=2)
    (out / "expected.json").write_bytes(pretty + b"\n")
    return expected


_OURS = {"home", "expected.json"}


def main() -> None:
    """Read the command line, generate, and say on stderr what was made."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--megabytes", type=int, default=434)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=None)
    args = parser.parse_args()
    began = time.perf_counter()
    expected = generate(args.out, args.megabytes, args.seed, args.files)
    took = time.perf_counter() - began
    for source, totals in expected.sources.items():
        counts = totals.counts
        print(
            f"{source:<12} {counts['files']:>7,} files {counts['content_bytes']:>14,} B"
            f" {counts['lines']:>9,} lines {totals.calls:>8,} calls",
            file=sys.stderr,
        )
    written = sum(each.counts["content_bytes"] for each in expected.sources.values())
    print(f"{took:.1f} s, {written / took / 1e6:.0f} MB/s", file=sys.stderr)


if __name__ == "__main__":
    main()
