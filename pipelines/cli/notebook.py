"""`agentlake notebook`: the warehouse in pictures, in this machine's browser."""

import os
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from agentlake.errors import UserError
from agentlake.pipelines.cli.ui import HOST, refuse_taken, warehouse_variables
from agentlake.pipelines.loopback import OwnPagesOnly
from agentlake.pipelines.settings.settings import Settings

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "usage.py"


def run(args: Namespace, settings: Settings, environ: Mapping[str, str]) -> int:
    """Serve the notebook until Ctrl-C; only its own pages are answered."""
    try:
        import marimo
        import uvicorn
    except ModuleNotFoundError as error:
        msg = (
            f"the notebook needs {error.name}, which is not installed. Install it with:"
            " pip install 'agentlake[notebook]'"
        )
        raise UserError(msg) from error
    refuse_taken(args.port)
    # Its code asks the settings by itself, as any notebook of the user's would.
    os.environ.update(environ)
    os.environ.update(warehouse_variables(settings))
    pages = marimo.create_asgi_app(quiet=True).with_app(path="", root=str(NOTEBOOK))
    print(
        f"{settings.warehouse} in pictures: http://{HOST}:{args.port}"
        " (Ctrl-C stops it)",
        file=sys.stderr,
        flush=True,
    )
    uvicorn.run(
        OwnPagesOnly(pages.build()), host=HOST, port=args.port, log_level="warning"
    )
    return 0
