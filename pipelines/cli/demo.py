"""`agentlake demo`: a made-up developer's history in a throw-away warehouse."""

import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from agentlake.errors import UserError
from agentlake.fixtures import FIXTURES_DIR
from agentlake.pipelines.cli.load import as_table
from agentlake.pipelines.cli.query import count_days
from agentlake.pipelines.cli.report import show
from agentlake.pipelines.cli.reports import REPORTS
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.sync import sync
from agentlake.pipelines.warehouse.connect import reading

_HOME = FIXTURES_DIR / "demo" / "home"
_REPORTS = {"daily": None, "session": 10, "model": None}
"""What is shown, and how many rows of it; None for all."""


def run(args: Namespace, settings: Settings, _: Mapping[str, str]) -> int:
    """Load the demo's home and print reports; --keep says where it stays."""
    if args.keep is None:
        with TemporaryDirectory(prefix="agentlake-demo-") as folder:
            _demo(settings, Path(folder, "demo.duckdb"))
    else:
        keep = args.keep.expanduser().absolute()
        if keep.exists():
            msg = (
                f"--keep {keep}: is there already and was left alone. Name a new file."
            )
            raise UserError(msg)
        _demo(settings, keep)
        print(f"\nKept: agentlake report tool --warehouse {keep}", file=sys.stderr)
    print("\nNext: `agentlake load` does this with what your own agents wrote.")
    return 0


def _demo(settings: Settings, warehouse: Path) -> None:
    settings = msgspec.structs.replace(
        settings,
        home=_HOME,
        is_other_home=True,
        warehouse=warehouse,
        sources={},
        prices={},
    )
    print(f"Two weeks of a made-up developer, from {_HOME}\n")
    result = sync(settings, environ={})
    print(as_table(result.report.sources.values(), settings.home))
    with reading(warehouse) as connection:
        count_days(connection, settings.time_zone)
        for name, limit in _REPORTS.items():
            print(f"\nagentlake report {name}{f' --limit {limit}' if limit else ''}")
            sys.stdout.flush()
            show(connection, REPORTS[name], settings.time_zone, limit=limit)
    sys.stdout.flush()
