"""The document of a thread: unpacked, and told by its version."""

from agentlake.adapters.sdk.contract import Reject
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.sdk.zstd import MOST, unpacked
from agentlake.adapters.zed.format import THREAD, Row, Thread


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
    try:
        return unpacked(packed, MOST)
    except Unreadable as error:
        msg = f"thread cannot be unpacked: {error}"
        raise Unreadable(msg) from error
