"""`agentlake verify`: the tables equal a full rebuild, and all checks hold."""

import json
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from agentlake.pipelines.cli import verify_files
from agentlake.pipelines.cli.table import Column, count, counted, is_bold, render
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.transform.checks.check import Outcome
from agentlake.pipelines.transform.checks.everything import check_everything
from agentlake.pipelines.transform.verify import Verified, verify
from agentlake.pipelines.warehouse.connect import reading

_COLUMNS = [
    Column(title="table"),
    *(
        Column(title=title, right=True)
        for title in ("rows", "missing", "extra", "time")
    ),
    Column(title=""),
]


def run(args: Namespace, settings: Settings, environ: Mapping[str, str]) -> int:
    """Compare and check everything and print it; the exit code says whether all holds.

    A check that only warns is printed and changes no exit code. With `--files` the
    agents' files are compared instead.
    """
    if args.files:
        return verify_files.run(args, settings, environ)
    tables = list(verify(settings.warehouse))
    with reading(settings.warehouse) as connection:
        checks = list(check_everything(connection))
    differs = [one.model for one in tables if not one.is_equal]
    failing = [one for one in checks if not one.is_good]
    if args.json:
        print(json.dumps(_said(tables, checks), indent=2))
    else:
        print(render(_COLUMNS, [_cells(one) for one in tables], bold=is_bold()))
        print(f"\n{counted(len(checks), 'check')}, {len(failing):,} of them failing")
        for one in failing:
            print(f"\n{_headline(one)}\n{one.check.bad_rows};")
    if differs:
        print(
            f"{', '.join(differs)}: not what a full rebuild gives. Nothing was changed."
            " Please report it; `agentlake replay` makes everything again.",
            file=sys.stderr,
        )
    if failing:
        print(
            "Nothing was changed. `agentlake sql` shows the rows of a failing check by"
            " the query below its name.",
            file=sys.stderr,
        )
    is_wrong = any(one.check.severity == "error" for one in failing)
    return 1 if differs or is_wrong else 0


def _cells(one: Verified) -> list[str]:
    numbers = [count(number) for number in (one.rows, one.missing, one.extra)]
    verdict = "equal" if one.is_equal else "DIFFERENT"
    return [one.model, *numbers, f"{one.seconds:.1f}s", verdict]


def _headline(one: Outcome) -> str:
    check = one.check
    return (
        f"{check.severity}: {check.table} {check.name}: {one.bad:,} bad."
        f" {check.description}"
    )


def _said(tables: Sequence[Verified], checks: Sequence[Outcome]) -> dict[str, Any]:
    return {
        "tables": [
            msgspec.to_builtins(one) | {"is_equal": one.is_equal} for one in tables
        ],
        "checks": [
            {
                "table": one.check.table,
                "name": one.check.name,
                "severity": one.check.severity,
                "bad": one.bad,
                "query": one.check.bad_rows,
            }
            for one in checks
        ],
    }
