"""Small total functions from what a vendor writes to what a fact holds."""

from typing import Any

from agentlake.adapters.sdk.decode import encode


def json_text(value: Any) -> str | None:
    """A value as compact JSON text; None stays None."""
    return None if value is None else encode(value).decode()


def first_line(text: str | None, limit: int = 200) -> str | None:
    """The first line with something on it, cut to `limit` characters."""
    for line in (text or "").splitlines():
        if stripped := line.strip():
            return stripped[:limit]
    return None
