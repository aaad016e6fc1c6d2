"""Read one stream on and give its new records, each with its key.

Here the readers of the SDK meet the warehouse: which occurrence of a line this is,
and which lines of a rewritten file are known already, only raw can tell.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec
import xxhash

from agentlake.adapters.sdk.contract import Record, Reject
from agentlake.adapters.sdk.readers import document, jsonl
from agentlake.pipelines.ingest.keyed import KEYED, versions
from agentlake.pipelines.ingest.plan import Work
from agentlake.pipelines.ingest.raw_stream import New, Piece, RawStream
from agentlake.pipelines.warehouse.connect import Connection

DOCUMENT_KEY = "document"
MOST_SEEN = 2_000_000
"""So many different lines of one stream are remembered while it is read."""
_KEY = re.compile(r"(?P<hash>[0-9a-f]{16})(?:\.(?P<occurrence>\d+))?")
_T = TypeVar("_T")


def pieces(connection: Connection, work: Work) -> Iterator[Piece]:
    """The stream's new records; at least one piece, maybe an empty one.

    Raises OSError and what a damaged file makes its reader raise.
    """
    if work.stream.reader == "document":
        return _document(work)
    if work.stream.reader in KEYED:
        return versions(connection, work)
    return _lines(connection, work)


def _document(work: Work) -> Iterator[Piece]:
    before = work.checkpoint
    cursor = _cursor(before.cursor, document.Cursor)
    read = document.read(work.path, cursor)
    if read is None:
        yield Piece(
            records=[], cursor=before.cursor or "", generation=before.generation
        )
        return
    data, now = read
    generation = before.generation + (cursor is not None)
    record = Record(work.stream, 0, 0, DOCUMENT_KEY, data)
    text = msgspec.json.encode(now).decode()
    new = New(record, now.digest[:16])
    yield Piece(records=[new], cursor=text, generation=generation)


def _lines(connection: Connection, work: Work) -> Iterator[Piece]:
    """The lines after the cursor; all again where it does not fit any more.

    That is a new generation, unless the file is as it was and maybe longer: copied,
    compressed, or being copied out. What follows the records of a generation is of it
    as well, for a running total is compared with what stands before it.
    """
    generation = work.checkpoint.generation
    keys = _Keys(connection, work)
    cursor = _cursor(work.checkpoint.cursor, jsonl.Cursor)
    known_to = cursor.known_to if cursor else 0
    if cursor is not None and not (cursor.offset and _fits(work, cursor)):
        cursor = None
        known_to = keys.restart(generation)
    elif cursor is not None:
        keys.resume(cursor)
    for batch in jsonl.read(work.path, cursor, settled=work.settled):
        records = list(keys.new_records(batch.lines))
        if records and records[0].record.seq < known_to:
            generation += 1
            known_to = 0
        place = msgspec.structs.replace(batch.cursor, known_to=known_to)
        text = msgspec.json.encode(place).decode()
        yield Piece(
            records=records,
            cursor=text,
            generation=generation,
            waiting=batch.cursor.pending > 0,
            asks_raw=keys.are_many,
        )
        if keys.are_many:
            keys.resume(batch.cursor)


def _cursor(text: str | None, shape: type[_T]) -> _T | None:
    return None if not text else msgspec.json.decode(text, type=shape)


def _fits(work: Work, cursor: jsonl.Cursor) -> bool:
    """The old position holds only in the same file with the same content before it."""
    known = work.checkpoint.signature
    if known is not None and not known.is_same_file(work.signature):
        return False
    return jsonl.continues(work.path, cursor)


class _Seen:
    """How often each content was met; most are met once."""

    def __init__(self) -> None:
        self._once: set[int] = set()
        self._times: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._once)

    def __contains__(self, content: int) -> bool:
        return content in self._once

    def add(self, content: int, times: int = 1) -> int:
        """Meet it once more, or so often; how often it was met before."""
        before = 0
        if content in self._once:
            before = self._times.get(content, 1)
        elif times:
            self._once.add(content)
        if before + times > 1:
            self._times[content] = before + times
        return before


class _Keys:
    """Keys of one reading: the content's hash, and which occurrence of it this is."""

    def __init__(self, connection: Connection, work: Work) -> None:
        self._raw = RawStream(connection, work)
        self._work = work
        self._seen = _Seen()
        self._known: set[int] = set()
        self._known_again: set[tuple[int, int]] = set()
        self._resumed_at = 0
        self._is_other = work.checkpoint.generation > 0
        """Whether raw may have lines that are not before the cursor on disk."""

    @property
    def are_many(self) -> bool:
        """Whether it is time to forget what was met, and to ask raw for it."""
        return len(self._seen) > MOST_SEEN and not self._is_other

    def restart(self, generation: int) -> int:
        """The stream is read again from its start: skip what raw has of it.

        How many lines of this generation that is.
        """
        known_to = 0
        for key, of, seq in self._raw.each(
            "select record_key, generation, seq from {table} where stream_id = $id"
        ):
            self._is_other = True
            if found := _KEY.fullmatch(key):
                content, again = int(found["hash"], 16), found["occurrence"]
                if again:
                    self._known_again.add((content, int(again)))
                else:
                    self._known.add(content)
            if of == generation:
                known_to = max(known_to, seq + 1)
        return known_to

    def resume(self, cursor: jsonl.Cursor) -> None:
        """The stream is read on: earlier occurrences are in raw."""
        self._seen = _Seen()
        self._resumed_at = cursor.offset
        self._is_other |= cursor.known_to > 0

    def new_records(self, lines: list[jsonl.Line]) -> Iterator[New]:
        """The lines that raw does not have, as records."""
        contents = [_content(line) for line in lines]
        if self._resumed_at:
            self._count_earlier({it for it in contents if it not in self._seen})
        for line, content in zip(lines, contents, strict=True):
            occurrence = self._seen.add(content)
            if self._has(content, occurrence):
                continue
            content_hash = _hash(content)
            key = f"{content_hash}.{occurrence}" if occurrence else content_hash
            problem = None
            if line.data is None:
                problem = Reject(f"a line of {line.size:,} bytes is too long to keep")
            stream = self._work.stream
            record = Record(stream, line.seq, line.offset, key, line.data or b"")
            yield New(record, content_hash, problem)

    def _has(self, content: int, occurrence: int) -> bool:
        """Whether raw had it when the stream began to be read again."""
        if occurrence:
            return (content, occurrence) in self._known_again
        return content in self._known

    def _count_earlier(self, contents: Iterable[int]) -> None:
        rows = self._raw.ask(
            """
            select content_hash, count(*) from {table}
            where stream_id = $id and content_hash in (select unnest($hashes))
            group by all
            """,
            hashes=[_hash(content) for content in contents],
        )
        if rows and self._is_other:
            self._count_on_disk()
            return
        for content_hash, times in rows:
            self._seen.add(int(content_hash, 16), times)

    def _count_on_disk(self) -> None:
        """Count the lines before the cursor where they stand.

        A rewritten file may lack lines that raw has, so raw cannot tell which
        occurrence a line is that it knows. Rarely needed: most new lines are new.
        """
        resumed_at, self._resumed_at = self._resumed_at, 0
        self.restart(self._work.checkpoint.generation)
        for batch in jsonl.read(self._work.path, None):
            for line in batch.lines:
                if line.offset >= resumed_at:
                    return
                self._seen.add(_content(line))


def _content(line: jsonl.Line) -> int:
    data = line.data if line.data is not None else f"{line.offset}+{line.size}".encode()
    return xxhash.xxh3_64_intdigest(data)


def _hash(content: int) -> str:
    return f"{content:016x}"
