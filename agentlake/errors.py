"""What can go wrong, by what happens next; anything else is a bug.

A message says what, where exactly, what was done about it, and what to do.
"""

from collections.abc import Iterable


class UserError(Exception):
    """The user can put this right: the command prints it and ends with exit code 2."""


class SourceError(Exception):
    """This source stops here, with this reason; the other sources go on."""


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """Give " Did you mean x?" for the nearest allowed name, or nothing."""
    from difflib import get_close_matches  # only those who mistype pay for it

    like = {word.lower(): word for word in allowed}
    match = get_close_matches(name.lower(), like, n=1)
    return f" Did you mean {like[match[0]]}?" if match else ""
