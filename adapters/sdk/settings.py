"""Look up what a small settings file of an agent says, whatever state it is in.

For `health`: a file that is not there, too large or not understood says nothing, and
then the agent's defaults are what is told.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from agentlake.adapters.sdk.decode import Unreadable, untyped
from agentlake.adapters.sdk.scan import beside

_PERIOD = re.compile(r"(\d{1,6})([hdwm])")
_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30}


def said_in(path: Path, *names: str) -> Any:
    """The value that a JSON or TOML file has under these names, one in the other.

    None if it has none.
    """
    data = beside(path)
    if data is None:
        return None
    try:
        is_toml = path.suffix == ".toml"
        value = tomllib.loads(data.decode()) if is_toml else untyped(data)
    except (ValueError, RecursionError, Unreadable):
        return None
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def days(period: Any) -> int | None:
    """Whole days of a period like `30d`, `24h` or `2w`; None if it is none."""
    found = _PERIOD.fullmatch(period) if isinstance(period, str) else None
    return int(int(found[1]) * _DAYS[found[2]]) if found else None
