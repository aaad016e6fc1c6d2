"""Which kind of file system a path lies on, as Linux tells it."""

import re
from pathlib import Path

MOUNTS = "/proc/self/mounts"
"""One line for each mounted file system: device, folder, kind, and more."""

_ESCAPED = re.compile(r"\\([0-7]{3})")


def file_system_of(path: str, mounts: str = MOUNTS) -> str | None:
    """The kind of file system, `ext4` or `9p` say; None where nothing tells.

    `path` is a real one, without links. Of two mounts in one place the later counts.
    """
    try:
        lines = Path(mounts).read_text(errors="surrogateescape").splitlines()
    except OSError:
        return None  # not Linux
    deepest, kind = "", None
    for fields in map(str.split, lines):
        if len(fields) < 3:  # noqa: PLR2004 - device, folder, kind
            continue
        folder = _ESCAPED.sub(lambda it: chr(int(it[1], 8)), fields[1]).rstrip("/")
        is_above = path == folder or path.startswith(f"{folder}/")
        if is_above and len(folder) >= len(deepest):
            deepest, kind = folder, fields[2]
    return kind
