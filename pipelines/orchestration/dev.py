"""`dagster dev`, with our web server in the place of Dagster's own.

`python -m agentlake.pipelines.orchestration.dev` takes the options of `dagster dev`.
"""

import sys
from collections.abc import Sequence
from typing import Any

from dagster._cli import dev
from dagster_shared.ipc import open_ipc_subprocess

_THEIRS = "dagster_webserver"
_OURS = "agentlake.pipelines.orchestration.webserver"


def _with_our_server(parts: Sequence[str], **options: Any) -> Any:
    """Start what Dagster starts; its web server by our module."""
    return open_ipc_subprocess(
        [_OURS if part == _THEIRS else part for part in parts], **options
    )


if __name__ == "__main__":
    # Dagster has no setting for it: it always starts `python -m dagster_webserver`.
    dev.open_ipc_subprocess = _with_our_server  # type: ignore[attr-defined]
    sys.exit(dev.dev_command())
