"""Paths as people write them: with a home, and with variables."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

_VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::-(?P<fallback>[^}]*))?\}")


def with_variables(text: str, environ: Mapping[str, str]) -> str:
    """Put the values of `${NAME:-fallback}`; only our own declarations have such."""
    return _VARIABLE.sub(lambda m: environ.get(m["name"]) or m["fallback"] or "", text)


def at_home(text: str, home: Path) -> str:
    """Put the home in place of a leading `~`."""
    is_at_home = text == "~" or text.startswith(("~/", f"~{os.sep}"))
    return f"{home}{text[1:]}" if is_at_home else text
