"""Read a file that is rewritten whole as the records that it is made of.

The adapter's `explode` takes it apart. A file caught in the middle of being rewritten
cannot be: then nothing is given, and it is read again later.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from agentlake.adapters.sdk.contract import Chunk, Keyed
from agentlake.adapters.sdk.readers import document
from agentlake.adapters.sdk.readers.sound import sound


def read(
    path: str,
    explode: Callable[[bytes], Iterable[Keyed]],
    cursor: Any,
    beside: Mapping[str, Any] | None = None,
) -> Iterator[Chunk]:
    """All records of the file in one chunk; none if it says what it said before.

    `beside` is what else the records are made of, as JSON: they are given again when it
    is another one. A key given twice gets the number of its occurrence. Raises OSError,
    `document.TooLarge`, and what `explode` raises.
    """
    is_same = cursor and cursor.get("beside") == beside
    before = msgspec.convert(cursor, document.Cursor) if is_same else None
    found = document.read(path, before)
    if found is None:
        yield Chunk(records=[], cursor=cursor)
        return
    data, now = found
    occurrences: Counter[str] = Counter()
    records: list[Keyed] = []
    for one in map(sound, explode(data)):
        again = occurrences[one.key]
        occurrences[one.key] += 1
        records.append(
            msgspec.structs.replace(one, key=f"{one.key}~{again}") if again else one
        )
    del found, data  # as large as all that follows from it
    after = msgspec.to_builtins(now) | ({"beside": beside} if beside else {})
    yield Chunk(records=records, cursor=after, complete=("",))
