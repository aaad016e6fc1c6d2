"""What a gateway writes in front of a message that came from a messenger.

`[Telegram Ann (@ann) id:123 +1m 2026-02-01 14:03 PST] hello`: the channel, who speaks,
how long after the message before, and when; each part but the channel can be switched
off. In a group the bracket names the group, and the text begins with who speaks. Newer
versions say who speaks in a block of JSON before the text.
"""

import re
from typing import Any, NamedTuple

from agentlake.adapters.sdk.decode import Unreadable, untyped

_NAMES = (
    *("WhatsApp", "Telegram", "Signal", "Slack", "Discord", "Google Chat", "iMessage"),
    *("BlueBubbles", "Microsoft Teams", "MSTeams", "Teams", "Matrix", "Mattermost"),
    *("Zalo Personal", "Zalo", "WebChat", "Feishu", "Lark", "LINE", "Nextcloud Talk"),
    *("Nostr", "Tlon", "Twitch", "IRC", "QQ Bot", "QQBot", "WeChat", "WeCom", "SMS"),
    *("Email", "Voice Call", "Synology Chat"),
)
_KNOWN = "|".join(re.escape(name) for name in _NAMES)
_IDS = {
    "google chat": "googlechat",
    "zalo personal": "zalouser",
    "microsoft teams": "msteams",
    "teams": "msteams",
    "lark": "feishu",
    "nextcloud talk": "nextcloud-talk",
    "qq bot": "qqbot",
    "voice call": "voice-call",
    "synology chat": "synology-chat",
}
"""The gateway's own name for a channel, where it is not its title in small letters."""
_SHORT = {"Telegram": "TG", "WhatsApp": "WA"}

_DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) "
_MOMENT = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\]\n]*"
_TIME = re.compile(rf"\[{_DAY}{_MOMENT}\] *")
_DATED = re.compile(
    rf"\[(?P<channel>{_KNOWN}|[A-Z][\w-]*)(?: (?!{_DAY}\d)(?P<from>[^\]\n]+?))?"
    rf" (?:{_DAY})?{_MOMENT}\][ \t]*"
)
_UNDATED = re.compile(rf"\[(?P<channel>{_KNOWN})(?: (?P<from>[^\]\n]+))?\][ \t]*")
_SENTENCE = re.compile(r"[a-z']+(?: [a-z']+)+")
"""`[WhatsApp is down]`: words of somebody who typed them, and nobody's name."""
_ABOUT = re.compile(
    r"(?P<about>[^\n]+?)(?::? \(untrusted[^)\n]*\):|:? ⟦openclaw:ctx⟧) *\n"
    r"(?:```json\n(?P<json>.*?)\n```|[^\n]+(?:\n[^\n]+)*)(?:\n+|$)",
    re.DOTALL,
)
_ELAPSED = re.compile(r"(?:^| )\+\d+[smhd]\b.*$")
_HOST = re.compile(r" \S+ \d+\.\d+\.\d+\.\d+$")
_ID = re.compile(r"(?:^| )id:.*$")
_HANDLE = re.compile(r" \([^()]*\)$")
_GROUP = re.compile(r"@g\.us|#|\bid:-|^[Gg]roup\b| Group\b")
_SPOKEN = re.compile(r"(?P<name>[^\n:\[\]<>]{1,64}): ")
_FROM = re.compile(r"\n?^\[from: (?P<name>[^\]\n]+)\][ \t]*$", re.MULTILINE)
_GATEWAY = re.compile(rf"^(?P<channel>{_KNOWN})(?: \w+)? gateway\b", re.MULTILINE)


class Sender(NamedTuple):
    """Who speaks, and the title of what it came through."""

    channel: str | None = None
    name: str | None = None


def opened(text: str) -> tuple[Sender, str]:
    """What stands before a text says who speaks; and the text without it."""
    channel, name = None, None
    while True:
        if found := _TIME.match(text):
            text = text[found.end() :]
        elif found := _ABOUT.match(text):
            name = name or _named(found["about"], found["json"])
            text = text[found.end() :]
        elif found := _envelope(text):
            text = text[found.end() :]
            channel = channel or found["channel"]
            spoken = found["from"] or ""
            if _GROUP.search(spoken) and (speaker := _SPOKEN.match(text)):
                spoken = speaker["name"]
                text = text[speaker.end() :]
            name = name or _name_in(spoken)
        else:
            break
    if found := _FROM.search(text):
        name = _name_in(found["name"])
        text = text[: found.start()] + text[found.end() :]
    return Sender(channel, name), text


def _envelope(text: str) -> re.Match[str] | None:
    if found := _DATED.match(text):
        return found
    found = _UNDATED.match(text)
    return None if found and _SENTENCE.fullmatch(found["from"] or "") else found


def id_of(title: str | None) -> str | None:
    """What the gateway itself calls a channel."""
    small = (title or "").lower()
    return _IDS.get(small, small) or None


def _name_in(spoken: str) -> str | None:
    """The name alone, without time, id and handle."""
    for part in (_ELAPSED, _ID, _HOST, _HANDLE):
        spoken = part.sub("", spoken)
    return spoken.strip() or None


def _named(about: str, data: str | None) -> str | None:
    """Who speaks, where a block of JSON is about that."""
    try:
        told = untyped((data or "").encode())
    except Unreadable:
        return None
    if not isinstance(told, dict):
        return None
    if about.startswith("Sender"):
        return _first_name(told)
    if about.startswith("Conversation info"):
        sender = told.get("sender")
        return _first_name(sender if isinstance(sender, dict) else {"name": sender})
    return None


def _first_name(told: dict[str, Any]) -> str | None:
    for key in ("name", "label", "username", "e164", "id"):
        if isinstance(value := told.get(key), str) and value.strip():
            return _name_in(value)
    return None


def gateway_in(events: str) -> str | None:
    """The channel of which a gateway's own events tell that it came or went."""
    found = _GATEWAY.search(events)
    return found["channel"] if found else None


def label(sender: Sender) -> str | None:
    """`[TG] Ann`; the name alone where the text does not say through what."""
    channel, name = sender
    if channel is None:
        return name
    short = f"[{_SHORT.get(channel, channel)}]"
    return f"{short} {name}" if name else short
