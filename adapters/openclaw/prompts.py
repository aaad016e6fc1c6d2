"""Who speaks in a user message, and what is left of it without what was put around.

A gateway hands over what came from messengers, schedules and other sessions as if a
user had typed it, and says in front of the text what it is.

Start:  `said`; `envelopes.py` reads what stands in front of a messenger's text.
"""

import re
from typing import NamedTuple

from agentlake.adapters.openclaw import envelopes
from agentlake.adapters.sdk.values import first_line

_SYSTEM = re.compile(r"(?:System(?: \(untrusted\))?: [^\n]*(?:\n+|$))+")
_SYSTEM_LINE = re.compile(r"^System(?: \(untrusted\))?: (?:\[[^\]\n]*\] ?)?", re.M)
_CRON = re.compile(r"\[cron:(?P<id>[^\]\s]*)(?:[ \t]+(?P<name>[^\]\n]*))?\][ \t]*")
_UNCLOSED_CRON = re.compile(r"\[cron:(?P<id>[^\]\s]*)[ \t]*")
_MEDIA = re.compile(
    r"(?:(?:\[media attached[^\n]*\]|To send an image back, [^\n]*)\n+)+"
)
_HISTORY = re.compile(
    r"\[Chat messages since your last reply[^\]\n]*\]\n.*"
    r"\[Current message[^\]\n]*\]\n",
    re.DOTALL,
)
_MEMORY = re.compile(
    r"(?:Context:\s*)?<(relevant-memories|active_memory_plugin)>.*?</\1>\s*", re.DOTALL
)
_HINT = re.compile(
    r"(?:^|\n)[ \t]*\[(?:\w+ )?message[_ ]id: [^\]\n]*\][ \t]*(?=\n|$)", re.IGNORECASE
)
_AFTER = re.compile(r"\n+Context: ⟦openclaw:ctx⟧ *\n.*", re.DOTALL)
_INJECTED = {
    "[Subagent Context]": "subagent",
    "[Inter-session message]": "session",
    "Read HEARTBEAT.md": "heartbeat",
    "A new session was started via": "system",
}
"""What the gateway says itself, by how it starts; words in brackets are a prefix."""
_QUIET = ("HEARTBEAT_OK", "NO_REPLY")

DIRECT = "direct"
"""The channel of a prompt that came through no messenger."""


class Said(NamedTuple):
    """A user message, taken apart."""

    text: str
    kind: str = "prompt"
    label: str | None = None
    around: str | None = None
    """What stood around it: queued system events, media, the talk of a group."""
    channel: str | None = None
    job: str | None = None
    category: str | None = "interactive"
    title: str | None = None
    """What a session is called in which nobody spoke."""


def said(text: str) -> Said:
    """Who speaks, through what, and the text without what was put around it."""
    system = _SYSTEM.match(text)
    events = system[0] if system else ""
    noted = _SYSTEM_LINE.sub("", events).strip()
    rest = text[len(events) :]
    around = [noted] if noted else []
    for pattern in (_MEMORY, _MEDIA, _HISTORY):
        if found := pattern.match(rest):
            around.append(found[0].strip())
            rest = rest[found.end() :]
    sender, rest = envelopes.opened(rest)
    rest = _HINT.sub("", _AFTER.sub("", rest)).lstrip("\n")
    sender = sender._replace(channel=sender.channel or envelopes.gateway_in(noted))
    channel = envelopes.id_of(sender.channel)
    if noted and not rest.strip() and len(around) == 1:
        by = "interactive" if channel else "system"
        return Said(noted, "meta", "[sys]", channel=channel, category=by)
    beside = "\n".join(around) or None
    if rest.startswith("[cron:"):
        return _of_a_job(rest, beside)
    for start, speaker in _INJECTED.items():
        if rest.startswith(start):
            rest = rest.removeprefix(start).lstrip() if start[0] == "[" else rest
            category = "system" if speaker in ("heartbeat", "system") else None
            return Said(rest, "meta", speaker, beside, category=category)
    label = envelopes.label(sender) or ("[sys]" if noted else None)
    return Said(rest, "prompt", label, beside, channel or DIRECT)


def _of_a_job(text: str, beside: str | None) -> Said:
    """What a schedule says; its bracket may hold no name, or not be closed."""
    found = _CRON.match(text) or _UNCLOSED_CRON.match(text)
    assert found
    rest = text[found.end() :]
    name = (found.groupdict().get("name") or "").strip()
    return Said(
        rest,
        "command",
        f"[cron] {name}" if name else "[cron]",
        beside,
        job=name or found["id"] or None,
        category="cron",
        title=name or first_line(rest),
    )


def is_quiet(text: str | None) -> bool:
    """Whether a reply only says that there is nothing to say."""
    return (text or "").strip() in _QUIET


class Conversation(NamedTuple):
    """What the key of a session says of it."""

    category: str | None = None
    channel: str | None = None
    relation: str | None = None


def place(key: str) -> Conversation:
    """From `agent:<agent>:<channel>:direct:<peer>` and its like."""
    steps = key.split(":")
    match steps[2:] if steps[0] == "agent" else steps:
        case ["cron", *_]:
            return Conversation("cron")
        case ["hook", *_]:
            return Conversation("automated", "hook")
        case ["subagent", *_]:
            return Conversation(relation="subagent")
        case ["direct" | "dm", *_]:
            return Conversation("interactive", DIRECT)
        case [channel, "direct" | "dm" | "group" | "channel", *_]:
            return Conversation("interactive", channel)
        case [channel, _, "direct" | "dm" | "group" | "channel", *_]:
            return Conversation("interactive", channel)
        case [*_, "heartbeat"]:
            return Conversation("system")
        case _:
            return Conversation()
