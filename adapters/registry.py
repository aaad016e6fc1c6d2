"""The built-in sources, one line each."""

from importlib import import_module
from typing import cast

from agentlake.adapters.sdk.contract import Adapter

BUILT_IN: dict[str, str] = {
    "claude_code": "agentlake.adapters.claude_code",
    "codex": "agentlake.adapters.codex",
    "oh_my_pi": "agentlake.adapters.oh_my_pi",
    "openclaw": "agentlake.adapters.openclaw",
    "pi": "agentlake.adapters.pi",
    "qwen_code": "agentlake.adapters.qwen_code",
}


def adapters() -> dict[str, Adapter]:
    """Every adapter by its source name, in the order in which they are shown."""
    return {name: cast("Adapter", import_module(to)) for name, to in BUILT_IN.items()}
