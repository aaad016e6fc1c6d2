"""Synthetic homes: what the benchmark loads, with totals known beforehand.

Here:   invented transcripts of Claude Code and Codex, shaped like real ones in
        sizes, mix, order and dirt, and the ledger of what was invented.
Not:    reading, deduplicating or measuring anything. The ledger is written
        while inventing, so it cannot share a mistake with the loader.
Start:  `text.py` (words, ids, times), `ledger.py` (the truth), then one module
        per agent; `../generate.py` decides how many files of which size.
Import: with `benchmarks/` on the path, as `python benchmarks/...` has it.
"""
