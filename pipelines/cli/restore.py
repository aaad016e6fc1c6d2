"""`agentlake restore`: go on from a backup, or from what was published last."""

import sys
from argparse import Namespace
from collections.abc import Mapping

from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.warehouse.restore import restore


def run(args: Namespace, settings: Settings, _: Mapping[str, str]) -> int:
    """Restore, and say where the vault that was there is kept."""
    backup = args.file.expanduser().absolute()
    kept = restore(settings.warehouse, backup)
    print(f"{settings.warehouse} goes on from {backup}.", file=sys.stderr)
    if kept:
        print(
            f"What it had before is kept at {kept}; delete it when all is well."
            " The next `agentlake load` brings in what is still on disk.",
            file=sys.stderr,
        )
    return 0
