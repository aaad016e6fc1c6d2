"""Git LFS leaves a few lines at the place of a file that it has not fetched."""

import re

from agentlake.adapters.sdk.files import content

_START = b"version https://git-lfs.github.com/spec/"
_POINTER = re.compile(re.escape(_START) + rb"[^\n]*\n(?:[a-z0-9.-]+ [^\n]*(?:\n|\Z))*")
_MOST = 1024
REASON = "a Git LFS pointer, not the file that it stands for: `git lfs pull` fetches it"


def size(data: bytes) -> int:
    """How many bytes of it, from its start, are such a pointer; 0 if it is none."""
    if not data.startswith(_START):
        return 0
    found = _POINTER.match(data, 0, _MOST)
    return found.end() if found else 0


def in_file(path: str) -> bytes | None:
    """The pointer that lies at the place of this file; None if there is none."""
    try:
        start = content(path, _MOST)
    except (OSError, ValueError):
        return None
    return start[: size(start)] or None
