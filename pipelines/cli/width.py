"""How wide a text is on a terminal, cut to fit, and cleaned of what could steer it.

Transcripts hold every script, emoji, megabytes on one line and escape sequences. Each
function here reads a text once at most, and a cut reads no more than what it keeps.
"""

import re
import unicodedata
from collections.abc import Iterable

# Escape sequences, line ends, directions: what a transcript could do to a terminal.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
# Combining marks, and what only joins or selects: the characters without a place.
_NO_WIDTH = frozenset({"Mn", "Me", "Cf"})
_MARKS = 32
"""So many characters of one column are enough for every script; more are a prank."""


def clean(text: str) -> str:
    """A text on one line that cannot steer the terminal."""
    return text if text.isprintable() else _CONTROL.sub(" ", text)


def width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def readable(text: str, room: int, gives_way: str) -> str:
    """As much of a text as `shorten` reads of it at most, found without reading it."""
    most = room * _MARKS + 1
    return text[-most:] if gives_way == "start" else text[:most]


def shorten(text: str, room: int, gives_way: str) -> str:
    """A text in so much room, with … where something is missing.

    `gives_way` says which part goes: `end` or `start`.
    """
    if gives_way == "start":
        kept = _kept(reversed(text), room)
        return text if kept is None else f"…{kept[::-1]}"
    kept = _kept(text, room)
    return text if kept is None else f"{kept}…"


def _kept(text: Iterable[str], room: int) -> str | None:
    """The characters that fit beside the …; None if all of them fit without it."""
    used, fits = 0, 0
    kept: list[str] = []
    for character in text:
        used += _columns(character)
        if used > room or len(kept) == room * _MARKS:
            return "".join(kept[:fits])
        kept.append(character)
        if used < room:
            fits = len(kept)
    return None


def _columns(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.category(character) in _NO_WIDTH:
        return 0
    return 1 + (unicodedata.east_asian_width(character) in "WF")
