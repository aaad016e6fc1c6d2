"""Who speaks in a user message, and what is left of it without what was put before.

A gateway hands over what came from messengers, schedules and other sessions as if a
user had typed it, and says in front of the text what it is.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

_SYSTEM = re.compile(r"(?:System(?: \(untrusted\))?: [^\n]*(?:\n+|$))+")
_SYSTEM_LINE = re.compile(r"^System(?: \(untrusted\))?: (?:\[[^\]\n]*\] ?)?", re.M)
_TIME = re.compile(r"\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d[^\]\n]*\] *")
_ABOUT = re.compile(
    r"[^\n]+(?:\(untrusted[^)\n]*\):| ⟦openclaw:ctx⟧) *\n"
    r"(?:```json\n.*?\n```|[^\n]+(?:\n[^\n]+)*)(?:\n+|$)",
    re.DOTALL,
)
_CHANNEL = re.compile(
    r"\[(?P<channel>Google Chat|Zalo Personal|[A-Z][A-Za-z]+)"
    r"(?: [^\]\n]*)?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\]\n]*\] *"
)
_CRON = re.compile(r"\[cron:(?P<id>[^\]\s]+)(?: +(?P<name>[^\]\n]+))?\] *")
_HINT = re.compile(r"^\[message_id: [^\]\n]*\] *\n?", re.M | re.I)
_INJECTED = {
    "[Subagent Context]": "subagent",
    "[Inter-session message]": "session",
    "Read HEARTBEAT.md": "heartbeat",
    "A new session was started via": "system",
}
"""What the gateway says itself, by how it starts; words in brackets are a prefix."""
_QUIET = ("HEARTBEAT_OK", "NO_REPLY")


class Said(NamedTuple):
    """A user message, taken apart."""

    text: str
    kind: str = "prompt"
    label: str | None = None
    events: str | None = None
    """System events that were queued before it."""
    channel: str | None = None
    job: str | None = None
    category: str | None = "interactive"


def said(text: str) -> Said:
    """Who speaks, through what, and the text without its prefixes."""
    system = _SYSTEM.match(text)
    events = system[0] if system else ""
    rest = text[len(events) :]
    channel: str | None = None
    while found := _first(rest, _TIME.match, _ABOUT.match, _CHANNEL.match):
        channel = channel or found.groupdict().get("channel")
        rest = rest[found.end() :]
    rest = _HINT.sub("", rest)
    noted = _SYSTEM_LINE.sub("", events).strip()
    if noted and not rest.strip():
        return Said(noted, "meta", "system", category="system")
    if found := _CRON.match(rest):
        job = (found["name"] or found["id"]).strip()
        rest = rest[found.end() :]
        return Said(rest, "command", "cron", noted or None, job=job, category="cron")
    for start, speaker in _INJECTED.items():
        if rest.startswith(start):
            rest = rest.removeprefix(start).lstrip() if start[0] == "[" else rest
            category = "system" if speaker in ("heartbeat", "system") else None
            return Said(rest, "meta", speaker, noted or None, category=category)
    channel = channel.lower() if channel else None
    label = channel or ("system" if noted else None)
    return Said(rest, "prompt", label, noted or None, channel)


def _first(
    text: str, *matches: Callable[[str], re.Match[str] | None]
) -> re.Match[str] | None:
    return next((found for match in matches if (found := match(text))), None)


def is_quiet(text: str | None) -> bool:
    """Whether a reply only says that there is nothing to say."""
    return (text or "").strip() in _QUIET


class Place(NamedTuple):
    """What the key of a session says of it."""

    category: str | None = None
    channel: str | None = None
    relation: str | None = None


def place(key: str) -> Place:
    """From `agent:<agent>:<channel>:direct:<peer>` and its like."""
    steps = key.split(":")
    match steps[2:] if steps[0] == "agent" else steps:
        case ["cron", *_]:
            return Place("cron")
        case ["hook", *_]:
            return Place("automated", "hook")
        case ["subagent", *_]:
            return Place(relation="subagent")
        case [channel, "direct" | "dm" | "group" | "channel", *_]:
            return Place("interactive", channel)
        case [channel, _, "direct" | "dm" | "group" | "channel", *_]:
            return Place("interactive", channel)
        case [*_, "heartbeat"]:
            return Place("system")
        case _:
            return Place()
