"""How what the Pi family writes reads: small total functions, no facts yet."""

import re
from datetime import datetime
from hashlib import sha256
from typing import Any

import msgspec
from msgspec.structs import replace

from agentlake.adapters.families.pi.format import Content, Entry, Part, Tokens
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.sdk.values import parts_of

BLOCK_TYPES = {
    "text": "text",
    "thinking": "thinking",
    "toolCall": "tool_use",
    "image": "image",
}
_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:-\d+)?Z?_(?P<id>.+)")
"""The name of a session's file: when it was begun, and its id."""


def session_id(stem: str) -> str:
    """The session that a file without its `.jsonl` is named after, or the whole name.

    The header names it too, but a line knows only its file.
    """
    found = _NAME.fullmatch(stem)
    return found["id"] if found else stem


def is_session_file(name: str) -> bool:
    """Whether the family itself named a file so."""
    return name.endswith(".jsonl") and bool(_NAME.fullmatch(stem_of(name)))


def stem_of(path: str) -> str:
    """The last part of a path of any system, without `.jsonl`."""
    return re.split(r"[/\\]", path)[-1].removesuffix(".jsonl")


def parent_session(entry: Entry) -> str | None:
    """The session that a header says it was forked from: its file, or its id."""
    origin = entry.parent_session or entry.branched_from
    return session_id(stem_of(origin)) if origin else None


class At(msgspec.Struct, frozen=True, gc=False):
    """Whose entry it is, and what names it when it has neither id nor time."""

    session_id: str
    key: str


def timed(entry: Entry) -> Entry:
    """An entry with a time: its own, or the one of its message."""
    if entry.timestamp is not None or entry.message is None:
        return entry
    return replace(entry, timestamp=time_of(entry.message.timestamp))


def time_of(told: Any) -> datetime | None:
    """A time, however it is written; None for what is none."""
    is_time = isinstance(told, int | float | str) and not isinstance(told, bool)
    return moment(told) if is_time else None


def name_of(entry: Entry, at: At) -> str:
    """What names an entry in all sessions that have a copy of it.

    Ids are unique within their file only, with the time they are everywhere.
    Version 1 had none; what an entry says and when tells it apart.
    """
    if entry.timestamp is None:
        return f"{at.session_id}:{entry.id or at.key}"
    moment = entry.timestamp.isoformat()
    if entry.id:
        return f"{entry.id}@{moment}"
    body = entry.message
    text = text_of(body.content) if body else entry.summary
    role, call = (body.role, body.tool_call_id) if body else (None, None)
    said = f"{entry.type}|{role}|{call}|{text}"
    return f"{sha256(said.encode()).hexdigest()[:12]}@{moment}"


def request_of(entry: Entry, tokens: Tokens) -> str:
    """What names a request without the id of its entry: when, of what, how much.

    Version 1 files get ids, random ones, when a newer Pi opens them.
    """
    body = entry.message
    counts = (tokens.input, tokens.cache_read, tokens.cache_write, tokens.output)
    told: list[Any] = [entry.timestamp, entry.type, *counts]
    if body:
        told += (body.timestamp, body.response_id, body.tool_call_id, body.model)
    return "/".join("" if it is None else str(it) for it in told)


def is_nothing(tokens: Tokens) -> bool:
    """Whether no request was answered: aborted before its first byte, or refused."""
    counts = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)
    return not any(counts)


def prompt(tokens: Tokens, provider: str | None) -> int | None:
    """The uncached part of a prompt.

    What was written for Google until March 2026 has the whole prompt as input; only
    that the total leaves out what was read gives it away.
    """
    whole, read = tokens.input, tokens.cache_read or 0
    if whole is None or not 0 < read <= whole or not _may_be_google(provider):
        return whole
    is_whole = tokens.total_tokens == whole + (tokens.output or 0)
    return whole - read if is_whole else whole


def _may_be_google(provider: str | None) -> bool:
    return provider is None or "google" in provider or "vertex" in provider


def cost(tokens: Tokens) -> float | None:
    """What the agent itself says that it cost; its 0 is no price, not none."""
    total = tokens.cost.total if tokens.cost else None
    return total or tokens.cost_usd or None


def text_of(content: Content) -> str | None:
    """The texts of a content, joined by newlines; None when it has none."""
    texts = [part.text for part in parts_of(content, Part) if part.text is not None]
    return "\n".join(texts) if texts else None
