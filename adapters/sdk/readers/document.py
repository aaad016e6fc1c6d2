"""Read a file that is rewritten whole: all of it is one record.

A file caught in the middle of being rewritten looks damaged; its reader waits
for a better moment instead of recording the damage.
"""

import hashlib
import os

import msgspec

from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.sdk.files import open_plain

MOST_DOCUMENT = 256 << 20


class Cursor(msgspec.Struct, frozen=True, kw_only=True):
    """What the document was when it was last taken."""

    digest: str


class TooLarge(Unreadable):
    """The document is above `MOST_DOCUMENT` bytes."""


def read(path: str, cursor: Cursor | None) -> tuple[bytes, Cursor] | None:
    """The whole file and its cursor, or None when it says what it said before.

    So does an empty one: it is being made, or was left. Raises OSError, TooLarge.
    """
    with open_plain(path) as file:
        if (size := os.fstat(file.fileno()).st_size) > MOST_DOCUMENT:
            msg = f"a document of {size:,} bytes; at most {MOST_DOCUMENT:,} are read"
            raise TooLarge(msg)
        data = file.read()
    if not data:
        return None
    now = Cursor(digest=hashlib.sha256(data).hexdigest()[:32])
    return None if now == cursor else (data, now)
