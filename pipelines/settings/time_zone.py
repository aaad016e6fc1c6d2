"""Which time zone days are counted in: the user's, checked, or the machine's."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

from agentlake.errors import UserError, did_you_mean

# Names that a system has for whatever is set on it; DuckDB knows none of them.
_OF_ONE_MACHINE = frozenset({"localtime", "posixrules"})


def checked_time_zone(name: str, said_in: str) -> str:
    """Give the name back if there is such a zone; `said_in` is for the error."""
    if _exists(name):
        return name
    guess = did_you_mean(name, available_timezones())
    message = f'{said_in}: there is no time zone "{name}".{guess}'
    raise UserError(message)


def machine_time_zone(environ: Mapping[str, str], etc: Path = Path("/etc")) -> str:
    """Name the machine's own zone: TZ, then what /etc says, else UTC."""
    named = [environ.get("TZ", "").removeprefix(":")]
    try:
        named.append(os.readlink(etc / "localtime"))
    except OSError:
        pass  # a copy instead of a link, or a system without it
    try:
        named.append((etc / "timezone").read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError):
        pass
    for name in named:
        key = re.sub(r"^.*/zoneinfo/(?:posix/|right/)?", "", name)
        if _exists(key):
            return key
    return "UTC"


def _exists(name: str) -> bool:
    if name in _OF_ONE_MACHINE:
        return False
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, no name at all, or a folder
        return False
    return True
