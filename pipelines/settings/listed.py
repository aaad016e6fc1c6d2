"""Folders that an agent lists in a file of its own: one per project, anywhere."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentlake.adapters.sdk.files import content
from agentlake.adapters.sdk.roots import Listed

_HOME = re.compile(r"(?:[A-Za-z]:)?[\\/](?:(?:home|Users)[\\/][^\\/]+|root)[\\/]")
_MOST = 16 << 20


def listed_in(
    root: Path, listed: Listed, home: Path, *, is_other_home: bool
) -> Iterator[Path]:
    """Give the folders that the list below `root` names, as far as they exist.

    A home that was copied or mounted elsewhere still holds the paths of its old place:
    below `/home/<name>` they mean this home. Of another home than that of this process
    a path means nothing else. A list that is not there or is damaged names none.
    """
    try:
        known = json.loads(content(str(Path(root, listed.file)), _MOST))
    except (OSError, ValueError, RecursionError):
        return
    for one in _objects(known):
        folder, above = one.get(listed.folder), one.get(listed.above)
        if not isinstance(folder, str) or "\0" in folder:
            continue
        if isinstance(above, str):
            folder = os.path.normpath(Path(above, folder))
        found = _HOME.match(folder)
        places = [] if is_other_home else [Path(folder)]
        places += [Path(home, folder[found.end() :])] if found else []
        place = next((it for it in places if it.is_absolute() and _is_dir(it)), None)
        if place:
            yield place


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # not ours to see, or not a path
        return False


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list, which may stand in an object itself."""
    items = value if isinstance(value, list) else [value]
    for item in items:
        if isinstance(item, dict):
            yield item
            for inner in item.values():
                if isinstance(inner, list):
                    yield from (it for it in inner if isinstance(it, dict))
