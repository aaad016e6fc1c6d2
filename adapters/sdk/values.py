"""Small total functions from what a vendor writes to what a fact holds."""

import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from agentlake.adapters.sdk.decode import encode

_MILLISECONDS = 1e11  # a larger time is no number of seconds
_LATEST = 1e14
_DRIVE = re.compile("/[A-Za-z]:/")


def json_text(value: Any) -> str | None:
    """A value as compact JSON text; None stays None."""
    return None if value is None else encode(value).decode()


def first_line(text: str | None, limit: int = 200) -> str | None:
    """The first line with something on it, cut to `limit` characters."""
    for line in (text or "").splitlines():
        if stripped := line.strip():
            return stripped[:limit]
    return None


def moment(value: float | str | None) -> datetime | None:
    """A time as vendors write it: ISO text, or (milli)seconds since 1970.

    What is none of these is no time: None.
    """
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            return None
    if value is None or not 0 < value < _LATEST:
        return None
    return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)


def file_path(uri: str | None) -> str | None:
    """The path that a `file://` address means; anything else stays as it is."""
    if uri is None or not uri.startswith("file://"):
        return uri
    path = unquote(uri.removeprefix("file://"))
    return path[1:] if _DRIVE.match(path) else path
