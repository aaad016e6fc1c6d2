"""Run what an adapter says, whatever happens.

The only broad `except`s of a load: an adapter, built in or not, must never cost more
than the record, the stream or the source that it stumbled over.
"""

import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
import xxhash

from agentlake.adapters.sdk import pointer
from agentlake.adapters.sdk.contract import Record, Reject, Unknown
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.sdk.splice import spans
from agentlake.errors import SourceError
from agentlake.models.fact import Fact

_OWN = str(Path(__file__).parent.parent)
"""Where the built-in adapters are: their lines are no help to a user."""

T = TypeVar("T")


class Parses(Protocol):
    """The part of an adapter that makes facts."""

    @staticmethod
    def parse(record: Record) -> Iterable[Fact | Reject]:
        """The facts of one record."""
        ...


def facts_of(adapter: Parses, record: Record) -> tuple[list[Fact], list[Reject]]:
    """The facts and rejects of one record, in the order in which they were given.

    An exception becomes a Reject; what was given before it is kept. A line that is
    no record may hold several: then those say what they say, each for itself.
    """
    facts, rejects = _said_of(adapter, record)
    if not facts and any(map(is_damage, rejects)) and record.stream.reader == "jsonl":
        parts, damages = records_on(record)
        if parts:
            rejects = damages
            for part in parts:
                more_facts, more_rejects = _said_of(adapter, part)
                facts += more_facts
                rejects += more_rejects
    return facts, rejects


def is_damage(reject: Reject) -> bool:
    """Whether something could not be understood; a type nobody knows is no damage."""
    return not isinstance(reject, Unknown)


def records_on(line: Record) -> tuple[list[Record], list[Reject]]:
    """The records that share a line, and why the rest of it is none.

    Nothing for a line that is one record, or none. A record's key is the one that
    a line of its own would give it.
    """
    found = spans(line.data)
    if len(found) == 1 and (not found[0].is_whole or found[0].data == line.data):
        return [], []
    occurrences: Counter[str] = Counter()
    records: list[Record] = []
    for span in found:
        if not span.is_whole:
            continue
        key = line_key(span.data)
        again = occurrences[key]
        occurrences[key] += 1
        key = f"{key}.{again}" if again else key
        offset = line.offset + span.start
        records.append(Record(line.stream, line.seq, offset, key, span.data))
    damages = [
        Reject(f"{len(span.data):,} bytes at {span.start:,} of the line are no record")
        for span in found
        if not span.is_whole
    ]
    return records, damages


def line_key(data: bytes) -> str:
    """What a line's key is made of: its content."""
    return xxhash.xxh3_64_hexdigest(data)


def _said_of(adapter: Parses, record: Record) -> tuple[list[Fact], list[Reject]]:
    facts: list[Fact] = []
    rejects: list[Reject] = []
    if pointer.size(record.data):
        return facts, [Reject(pointer.REASON)]
    file = getattr(adapter, "__file__", None) or _OWN
    is_added = not file.startswith(_OWN)
    try:
        for found in adapter.parse(record):
            if isinstance(found, Fact):
                reason = misfit(found) if is_added else None
                if reason is None:
                    facts.append(found)
                else:
                    rejects.append(Reject(f"{type(found).__name__} left out: {reason}"))
            else:
                rejects.append(found)
    except Unreadable as error:
        rejects.append(Reject(str(error)))
    except MemoryError:  # no fault of the record's: it is read again later
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the module says why
        if is_added:
            reason = f"{place_of_error(error, file)} (in parse)"
        else:
            reason = f"{type(error).__name__} in parse: {error}"
        rejects.append(Reject(reason))
    return facts, rejects


def misfit(fact: Fact) -> str | None:
    """What a fact says that its kind does not allow: nothing checks it when made."""
    try:
        again = msgspec.convert(msgspec.structs.asdict(fact), type(fact), strict=True)
    except msgspec.ValidationError as error:
        return str(error)
    return None if again == fact else "it is not what it says"


def guarded(adapter: object, make: Callable[[], Iterable[T]]) -> Iterator[T]:
    """What an adapter's function gives; what it raises becomes a SourceError.

    What says that a file cannot be read now (OSError, EOFError, Unreadable, and what
    readers raise) passes as it is.
    """
    file = getattr(adapter, "__file__", None) or ""
    try:
        yield from make()
    except (OSError, EOFError, MemoryError, Unreadable, SourceError):
        raise
    except (Exception, SystemExit) as error:
        if type(error).__module__ in ("sqlite3", "backports.zstd", "compression.zstd"):
            raise
        raise SourceError(place_of_error(error, file)) from error


def place_of_error(error: BaseException, file: str) -> str:
    """What went wrong, and in which line of this file, or of the one it came to."""
    what = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == file]
    for frame in (own or frames)[-1:]:
        return f"{frame.filename}, line {frame.lineno}: {what}"
    return what
