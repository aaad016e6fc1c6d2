"""Small total functions from what a vendor writes to what a fact holds."""

import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import msgspec

from agentlake.adapters.sdk.decode import encode

_any = msgspec.json.Decoder(msgspec.Raw)

_MILLISECONDS = 1e11  # a larger time is no number of seconds
_EARLIEST = 946_684_800  # the year 2000: what is before or after a century is garbage
_LATEST = 4_102_444_800
_DRIVE = re.compile("/[A-Za-z]:/")


def json_text(value: Any) -> str | None:
    """A value as compact JSON text; None stays None."""
    return None if value is None else encode(value).decode()


def raw_json(value: Any) -> str | None:
    """Arguments as JSON text: verbatim where they were written as such a text."""
    if isinstance(value, str):
        try:
            _any.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return json_text(value)
        return value
    return json_text(value)


def text_of(content: Any) -> str | None:
    """The text of a content: a text, the texts of its parts, or it all as JSON."""
    match content:
        case None | str():
            return content
        case list(parts):
            texts = [part.get("text") for part in parts if isinstance(part, dict)]
            return "\n".join(text for text in texts if isinstance(text, str))
        case other:
            return json_text(other)


def first_line(text: str | None, limit: int = 200) -> str | None:
    """The first line with something on it, cut to `limit` characters."""
    for line in (text or "").splitlines():
        if stripped := line.strip():
            return stripped[:limit]
    return None


def named(*names: str | None) -> str | None:
    """The first of several names that is one: an empty or blank text is none."""
    return next((name.strip() for name in names if name and name.strip()), None)


def from_epoch(number: object) -> datetime | None:
    """A time in seconds or milliseconds since 1970; None when it is no date of ours."""
    if not isinstance(number, int | float) or isinstance(number, bool):
        return None
    seconds = number / 1000 if number > _MILLISECONDS else number
    if not _EARLIEST <= seconds <= _LATEST:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def moment(value: object) -> datetime | None:
    """A time as vendors write it: ISO text, or (milli)seconds since 1970.

    What is none of these is no time: None. One that names no zone is UTC.
    """
    if not isinstance(value, str):
        return from_epoch(value)
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def one_step(name: str) -> str:
    """A name as one step of a record's key, whatever is in it (`unstepped`)."""
    return name.replace("%", "%25").replace("/", "%2F")


def unstepped(step: str) -> str:
    """The name that is written as this step of a key."""
    return step.replace("%2F", "/").replace("%25", "%")


def file_path(uri: str | None) -> str | None:
    """The path that a `file://` address means; anything else stays as it is."""
    if uri is None or not uri.startswith("file://"):
        return uri
    path = unquote(uri.removeprefix("file://"))
    return path[1:] if _DRIVE.match(path) else path
