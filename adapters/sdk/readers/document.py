"""Read a file that is rewritten whole: all of it is one record.

A file caught in the middle of being rewritten looks damaged; its reader waits
for a better moment instead of recording the damage.
"""

import hashlib
from pathlib import Path

import msgspec

from agentlake.adapters.sdk.decode import Unreadable

MOST_DOCUMENT = 256 << 20


class Cursor(msgspec.Struct, frozen=True, kw_only=True):
    """What the document was when it was last taken."""

    digest: str


class TooLarge(Unreadable):
    """The document is above `MOST_DOCUMENT` bytes."""


def read(path: str, cursor: Cursor | None) -> tuple[bytes, Cursor] | None:
    """The whole file and its cursor, or None when it says what it said before.

    Raises OSError, TooLarge.
    """
    file = Path(path)
    if (size := file.stat().st_size) > MOST_DOCUMENT:
        msg = f"a document of {size:,} bytes; at most {MOST_DOCUMENT:,} are read"
        raise TooLarge(msg)
    data = file.read_bytes()
    now = Cursor(digest=hashlib.sha256(data).hexdigest()[:32])
    return None if now == cursor else (data, now)
