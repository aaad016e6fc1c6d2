"""Other processes of this machine."""

import os


def is_running(pid: int) -> bool:
    """Whether a process has this number; it may be another one than once had it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is there, and not ours
        return True
    return True
