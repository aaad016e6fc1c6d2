"""`agentlake demo`: the shipped examples, loaded into a throw-away warehouse."""

import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from agentlake.adapters.registry import adapters
from agentlake.fixtures import FIXTURES_DIR
from agentlake.models.errors import UserError
from agentlake.pipelines.cli.load import as_table
from agentlake.pipelines.cli.query import count_days
from agentlake.pipelines.cli.report import show
from agentlake.pipelines.load.plan import SourcePlan
from agentlake.pipelines.load.sync import sync_plans
from agentlake.pipelines.settings import Settings, resolve_roots
from agentlake.pipelines.warehouse.connect import reading

_DAYS, _SESSIONS = 12, 8


def run(args: Namespace, settings: Settings, _: Mapping[str, str]) -> int:
    """Load all examples and print two reports; --keep says where it stays."""
    if args.keep is None:
        with TemporaryDirectory(prefix="agentlake-demo-") as folder:
            _demo(settings, Path(folder, "demo.duckdb"))
        return 0
    keep = args.keep.expanduser().absolute()
    if keep.exists():
        msg = f"--keep {keep}: is there already, and was left alone. Name a new file."
        raise UserError(msg)
    _demo(settings, keep)
    print(
        f"\nKept in {keep}: agentlake report model --warehouse {keep}", file=sys.stderr
    )
    return 0


def _demo(settings: Settings, warehouse: Path) -> None:
    settings = msgspec.structs.replace(
        settings, warehouse=warehouse, sources={}, prices={}
    )
    result = sync_plans(settings, example_plans(settings))
    print(f"Made-up examples of every kind, from {FIXTURES_DIR / 'sources'}\n")
    print(as_table(result.report.sources.values()))
    with reading(warehouse) as connection:
        count_days(connection, settings.time_zone)
        for name, limit in (("daily", _DAYS), ("session", _SESSIONS)):
            print(f"\nagentlake report {name} --limit {limit}")
            sys.stdout.flush()
            show(connection, name, settings.time_zone, limit=limit)
    sys.stdout.flush()


def example_plans(settings: Settings) -> list[SourcePlan]:
    """Every source with the homes of all its examples, as if they were one."""
    plans = []
    for source, adapter in adapters().items():
        roots: list[Path] = []
        for home in sorted(FIXTURES_DIR.glob(f"sources/{source}/*/home")):
            there = msgspec.structs.replace(settings, home=home, is_other_home=True)
            roots += resolve_roots(adapter.ROOTS, there, source, {})
        plans.append(SourcePlan(adapter=adapter, roots=roots))
    return plans
