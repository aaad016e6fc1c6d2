"""Open what is a plain file, and nothing else.

A pipe, a socket or a device at the place of a file would keep whoever opens it waiting
for ever, so the type is looked at first and the opening itself never waits. Links are
followed; what a link inside an agent's folder leads to, `scan` looks at.
"""

import errno
import os
import stat
from io import BufferedReader

_HOW = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)

MOST_BESIDE = 1 << 20


def open_plain(path: str) -> BufferedReader:
    """The file, to be read. Raises OSError, also for what is no plain file."""
    refuse_other(os.stat(path).st_mode, path)  # noqa: PTH116 - opened by the thousand
    file = os.open(path, _HOW)
    try:
        refuse_other(os.fstat(file).st_mode, path)
        return os.fdopen(file, "rb")
    except BaseException:
        os.close(file)
        raise


def refuse_other(mode: int, path: str) -> None:
    """Raise OSError if this is the mode of anything but a plain file."""
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "not a plain file", path)


def content(path: str, most: int = -1) -> bytes:
    """The first `most` bytes of a plain file, or all. Raises OSError."""
    with open_plain(path) as file:
        return file.read(most)
