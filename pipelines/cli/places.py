"""Where a source was looked for, as a person of this machine would say it."""

import sys
from collections.abc import Sequence
from pathlib import Path

# Declarations list the places of every operating system.
_ONLY_ON = {"AppData": "win32", "Library": "darwin"}


def places(searched: Sequence[str], home: Path, most: int | None = None) -> str:
    """`~/.claude, ~/.config/claude, ...`: at most so many, those of this platform."""
    homely = [_homely(text, home) for text in searched]
    ours = [text for text in homely if _is_ours(text)] or homely
    shown = ours[:most]
    return ", ".join([*shown, "..."] if len(ours) > len(shown) else shown)


def _homely(text: str, home: Path) -> str:
    path = Path(text)
    if not path.is_relative_to(home):
        return text
    return str(Path("~", path.relative_to(home)))


def _is_ours(text: str) -> bool:
    top = Path(text).parts[:2]
    if top[:1] != ("~",) or len(top) == 1:
        return True
    return _ONLY_ON.get(top[1], sys.platform) == sys.platform
