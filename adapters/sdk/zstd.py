"""zstd: Python's own since 3.14, else its back-port; imported when it is needed."""

import sys
from types import ModuleType

from agentlake.adapters.sdk.decode import Unreadable

MOST = 256 << 20
"""What unpacks to more is no record: a few KiB can unpack to anything."""


def library() -> ModuleType:
    """The module: most homes have nothing that is compressed."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def unpacked(packed: bytes, most: int = MOST) -> bytes:
    """What was compressed. Raises Unreadable if it is damaged or above `most` bytes."""
    zstd = library()
    unpacking = zstd.ZstdDecompressor()
    try:
        data: bytes = unpacking.decompress(packed, most)
    except zstd.ZstdError as error:
        raise Unreadable(str(error)) from error
    if unpacking.eof:
        return data
    if len(data) == most:
        msg = f"it is larger than {most:,} bytes"
    else:
        msg = "it ends too early"
    raise Unreadable(msg)
