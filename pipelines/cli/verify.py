"""`agentlake verify`: whether what stands is what a full rebuild gives."""

import json
import sys
from argparse import Namespace
from collections.abc import Mapping

import msgspec

from agentlake.pipelines.cli.table import Column, count, is_bold, render
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.transform.verify import Verified, verify

_COLUMNS = [
    Column(title="table"),
    *(
        Column(title=title, right=True)
        for title in ("rows", "missing", "extra", "time")
    ),
    Column(title=""),
]


def run(args: Namespace, settings: Settings, _: Mapping[str, str]) -> int:
    """Compare everything and print it; the exit code says whether all is equal."""
    found = list(verify(settings.warehouse))
    differs = [one.model for one in found if not one.is_equal]
    if args.json:
        said = [msgspec.to_builtins(one) | {"is_equal": one.is_equal} for one in found]
        print(json.dumps(said, indent=2))
    else:
        print(render(_COLUMNS, [_cells(one) for one in found], bold=is_bold()))
    if differs:
        print(
            f"{', '.join(differs)}: not what a full rebuild gives. Nothing was changed."
            " Please report it; `agentlake replay` makes everything again.",
            file=sys.stderr,
        )
    return 1 if differs else 0


def _cells(one: Verified) -> list[str]:
    numbers = [count(number) for number in (one.rows, one.missing, one.extra)]
    verdict = "equal" if one.is_equal else "DIFFERENT"
    return [one.model, *numbers, f"{one.seconds:.1f}s", verdict]
