"""Small total functions from what a vendor writes to what a fact holds."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, TypeVar
from urllib.parse import unquote

import msgspec

from agentlake.adapters.sdk.decode import encode

_any = msgspec.json.Decoder(msgspec.Raw)

P = TypeVar("P")

_LOGIN = re.compile(r"^(https?://)[^@/]*@")
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


def verbatim(raw: msgspec.Raw | bytes) -> str | None:
    """Arguments as they were written; None where there are none."""
    text = str(raw, "utf-8", "replace")
    return None if text in ("", "null") else text


def parts_of(
    content: str | Sequence[P | str] | None, part: Callable[..., P]
) -> list[P]:
    """The parts of a content; a bare text is one, which `part` makes of it."""
    if not content:
        return []
    items = [content] if isinstance(content, str) else content
    return [
        part(type="text", text=one) if isinstance(one, str) else one for one in items
    ]


def one_step(name: str) -> str:
    """A name as one step of a record's key, whatever is in it (`unstepped`)."""
    return name.replace("%", "%25").replace("/", "%2F")


def unstepped(step: str) -> str:
    """The name that is written as this step of a key."""
    return step.replace("%2F", "/").replace("%25", "%")


def without_login(url: str | None) -> str | None:
    """An address without the name, password or token that it was fetched with."""
    return url and _LOGIN.sub(r"\1", url)


@lru_cache(maxsize=4096)
def posix_path(path: str) -> PurePosixPath:
    """The path of a stream with slashes, whichever system wrote it.

    It is kept: what a record is often follows from it, and a file has many records.
    """
    return PurePosixPath(path.replace("\\", "/"))


def file_path(uri: str | None) -> str | None:
    """The path that a `file://` address means; anything else stays as it is."""
    if uri is None or not uri.startswith("file://"):
        return uri
    path = unquote(uri.removeprefix("file://"))
    return path[1:] if _DRIVE.match(path) else path
