"""`dagster dev`, with our web server and our daemon in the place of Dagster's own.

`python -m agentlake.pipelines.orchestration.dev` takes the options of `dagster dev`.
"""

import sys
from collections.abc import Sequence
from typing import Any

from dagster._cli import dev
from dagster_shared.ipc import open_ipc_subprocess

_OURS = {
    "dagster_webserver": "agentlake.pipelines.orchestration.webserver",
    "dagster._daemon": "agentlake.pipelines.orchestration.daemon",
}


def _by_our_modules(parts: Sequence[str], **options: Any) -> Any:
    """Start what Dagster starts, by our modules."""
    return open_ipc_subprocess([_OURS.get(part, part) for part in parts], **options)


if __name__ == "__main__":
    # Dagster has no setting for it: it always starts its own modules.
    dev.open_ipc_subprocess = _by_our_modules  # type: ignore[attr-defined]
    sys.exit(dev.dev_command())
