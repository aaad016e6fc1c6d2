"""Why something was not understood, fit to be kept and shown.

Messages of decoders and of adapters quote what they stumbled over. A reason is read in
terminals, reports and bug reports: it names fields, and leaves contents in raw.
"""

import re

MOST_CHARACTERS = 300
_HIDDEN = "…"
_QUOTED = re.compile(
    r"""(?:(?<!\w)|(?<=\bb))(?P<mark>['"])(?P<text>(?:\\.|(?!(?P=mark)).)*)"""
    r"""(?:(?P=mark)|$)""",
    re.DOTALL,
)
_NAME = re.compile(r"[\w.$/-]{1,40}", re.ASCII)


def bounded_reason(text: str, data: bytes = b"") -> str:
    """The message without what it quotes of `data`, on one line of bounded length.

    A quoted word is kept when it is a field's name, or does not come from `data`.
    """
    text = _QUOTED.sub(lambda found: _shown(found, data), text)
    text = " ".join(text.split())
    if len(text) <= MOST_CHARACTERS:
        return text
    return text[: MOST_CHARACTERS - len(_HIDDEN)] + _HIDDEN


def _shown(found: re.Match[str], data: bytes) -> str:
    mark, text = found["mark"], found["text"]
    is_mark = len(text) <= 1  # as in: Expecting ',' delimiter
    is_shown = is_mark or (_NAME.fullmatch(text) and not _is_content(text, data))
    return found[0] if is_shown else f"{mark}{_HIDDEN}{mark}"


def _is_content(text: str, data: bytes) -> bool:
    word = text.encode()
    is_key = re.search(rb'"' + re.escape(word) + rb'"\s*:', data)
    return word in data and not is_key
