"""Standard input, output and error: that they are there, and what they refuse."""

import os
import sys
from contextlib import suppress

_NAMES = ("stdin", "stdout", "stderr")


def make_ready() -> None:
    """Give the process all three; a terminal shows `?` for a letter that it lacks.

    Python has None for a stream that was closed before it began (`>&-`), and the next
    file that is opened gets its number: the warehouse must not be what is printed to.
    """
    missing = [name for name in _NAMES if getattr(sys, name) is None]
    if missing:
        while (number := os.open(os.devnull, os.O_RDWR)) < len(_NAMES):
            pass
        os.close(number)
    for name in missing:
        mode = "r" if name == "stdin" else "w"
        # Open as long as the process.
        setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")


def is_of_stdout(error: OSError) -> bool:
    """Whether it was what is printed that could not be written: a full disk behind `>`.

    Neither error nor file says so, and what failed is gone from Python's buffer. So one
    more line end is tried: it fails in the same way.
    """
    if error.filename is not None:
        return False
    try:
        os.write(sys.stdout.fileno(), b"\n")
    except ValueError:  # no file of the system's
        return False
    except OSError as again:
        return again.errno == error.errno
    return False


def give_up_stdout() -> None:
    """Throw away what was printed, so that Python does not try once more at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def can_move(stream: object) -> bool:
    """Whether a line of this stream can be written over: a terminal with a cursor."""
    if os.environ.get("TERM") == "dumb":
        return False
    isatty = getattr(stream, "isatty", None)
    return bool(isatty and isatty())
