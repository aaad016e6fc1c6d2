"""`agentlake replay`: parse the records in the warehouse again."""

from argparse import Namespace
from collections.abc import Mapping

from agentlake.errors import UserError
from agentlake.pipelines.cli.load import as_json, print_summary
from agentlake.pipelines.cli.table import Column, count, is_bold, render
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.sync import replay_sources


def run(args: Namespace, settings: Settings, _: Mapping[str, str]) -> int:
    """Replay all sources or those named, and say how many records that were."""
    if not settings.warehouse.exists():
        msg = f"{settings.warehouse}: no warehouse yet. Load one with `agentlake load`."
        raise UserError(msg)
    result = replay_sources(settings, args.sources)
    if args.json:
        print(as_json(result, settings))
        return 0
    columns = [Column(title="source"), Column(title="parsed again", right=True)]
    rows = [[one.source, count(one.replayed)] for one in result.report.sources.values()]
    print(render(columns, rows, bold=is_bold()))
    print_summary(result)
    return 0
