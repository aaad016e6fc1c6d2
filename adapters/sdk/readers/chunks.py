"""The keyed records of a stream, by whichever reader it names.

What an adapter's own function raises is a SourceError; what says that the stream
cannot be read now passes as it is.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, cast

import msgspec

from agentlake.adapters.sdk import pointer
from agentlake.adapters.sdk.contract import (
    Adapter,
    Chunk,
    Explodes,
    HasTables,
    Keyed,
    Options,
    Reader,
    ReadsItself,
    Stream,
)
from agentlake.adapters.sdk.readers import json_document
from agentlake.adapters.sdk.readers.sound import sound
from agentlake.adapters.sdk.run import guarded
from agentlake.errors import SourceError

POINTER = "git-lfs"
"""The key of what Git LFS has left at the place of a file."""
NEEDS: dict[Reader, str] = {
    "json_document": "explode",
    "sqlite": "tables",
    "own": "read",
}
"""The readers that give keyed records, and what an adapter must have for each."""


def chunks(
    adapter: Adapter, stream: Stream, path: str, cursor: Any, options: Options
) -> Iterator[Chunk]:
    """What the stream holds that may be new since `cursor`; `path` is where it lies."""
    if (pointed := pointer.in_file(path)) is not None:
        return iter([Chunk(records=[Keyed(POINTER, pointed, 0)], cursor=None)])
    needed = NEEDS[stream.reader]
    if not hasattr(adapter, needed):
        msg = f"a stream read by {stream.reader} needs {needed}() in its adapter"
        raise SourceError(msg)
    match stream.reader:
        case "json_document":
            explode = cast("Explodes", adapter).explode
            return json_document.read(
                path,
                lambda data: guarded(adapter, partial(explode, stream, data)),
                cursor,
            )
        case "sqlite":
            # Imported where a source needs it: most loads find no database.
            from agentlake.adapters.sdk.readers import sqlite

            tables = cast("HasTables", adapter).tables
            return guarded(adapter, lambda: sqlite.read(path, tables(stream), cursor))
        case _:
            read = cast("ReadsItself", adapter).read
            return map(_sound, guarded(adapter, partial(read, stream, cursor, options)))


def _sound(chunk: Chunk) -> Chunk:
    records = [sound(one) for one in chunk.records]
    return msgspec.structs.replace(chunk, records=records)
