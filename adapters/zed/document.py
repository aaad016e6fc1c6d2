"""The document of a thread: unpacked, and told by its version."""

import sys

from agentlake.adapters.sdk.contract import Reject
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.zed.format import THREAD, Row, Thread

MOST = 256 << 20
"""A larger document is no thread: a few KiB can unpack to anything."""


def thread_of(row: Row) -> tuple[Thread, list[Reject]]:
    """The thread in a row. Raises Unreadable for what is none."""
    data = row.data
    if data is None:
        msg = "thread without data"
        raise Unreadable(msg)
    packed = data.encode() if isinstance(data, str) else data.bytes()
    if row.data_type == "zstd":
        return THREAD.decode(_unpacked(packed))
    if row.data_type == "json":
        return THREAD.decode(packed)
    msg = f"thread in an unknown form: data_type {row.data_type!r}"
    raise Unreadable(msg)


def _unpacked(packed: bytes) -> bytes:
    # Imported when needed: most homes have no thread of Zed.
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    unpacking = zstd.ZstdDecompressor()
    try:
        data = unpacking.decompress(packed, MOST)
    except zstd.ZstdError as error:
        msg = f"thread cannot be unpacked: {error}"
        raise Unreadable(msg) from error
    if unpacking.eof:
        return data
    what = f"is larger than {MOST:,} bytes" if len(data) == MOST else "ends too early"
    msg = f"thread cannot be unpacked: it {what}"
    raise Unreadable(msg)
