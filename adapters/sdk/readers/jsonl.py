"""Read a line-based stream on from where the last read stopped.

Plain and `.zst` files are the same stream. A record is a line with its newline: what
follows the last newline waits. Memory is bounded by one chunk, or one line if
that is longer; a line above `MOST_LINE` bytes is stepped over and said to be so.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from typing import cast

import msgspec

from agentlake.adapters.sdk import pointer, zstd
from agentlake.adapters.sdk.files import open_plain
from agentlake.adapters.sdk.splice import spans

CHUNK = 4 << 20
MOST_LINE = 256 << 20
MOST_LINES = 20_000
"""Where one read gives more of them, the next ones are smaller."""
EDGE = 4096


class Cursor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the next read goes on, and how to tell that the content is the same.

    `offset` is in bytes of the (decompressed) stream, after the last newline taken;
    `head` and `tail` are hashes of the up to 4 KiB at the start and before it.
    """

    offset: int = 0
    line: int = 0
    head: str = ""
    head_size: int = 0
    tail: str = ""
    pending: int = 0
    """Bytes that follow the last newline."""
    known_to: int = 0
    """The line up to which an earlier reading of what seems the same content came."""


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line that is not blank; `data` is None when it is above `MOST_LINE`."""

    seq: int
    offset: int
    size: int
    data: bytes | None


class Batch(msgspec.Struct, frozen=True):
    """Lines in order, and the cursor that stands after them."""

    lines: list[Line]
    cursor: Cursor


@contextmanager
def open_stream(path: str) -> Iterator[BufferedReader]:
    """The file, or what is compressed in it. Raises OSError."""
    with open_plain(path) as file:
        if path.endswith(".zst") and file.peek(1):  # an empty one is being made
            with zstd.library().open(file, "rb") as unpacked:
                yield cast("BufferedReader", unpacked)
        else:
            yield file


def read(
    path: str, cursor: Cursor | None, *, settled: bool = False, chunk: int = CHUNK
) -> Iterator[Batch]:
    """Lines after `cursor`, at least one batch (maybe empty), about one per chunk.

    The caller has asked `continues` whether the cursor still fits. `settled` says
    that nobody has written for long: then a last line without newline is taken as
    well, if it ends with a record. Raises OSError, EOFError or ZstdError for a file
    that cannot be read.
    """
    start = cursor or Cursor()
    head = _bytes_at(path, 0, EDGE) if start.offset else b""
    reading = _Reading(start, head=head, tail=_before(path, start))
    with open_stream(path) as file:
        file.seek(start.offset)
        yield from reading.batches(file, chunk, settled=settled)


def continues(path: str, cursor: Cursor) -> bool:
    """Whether the stream still holds, up to the cursor, what it held then."""
    head = _bytes_at(path, 0, cursor.head_size)
    return (
        len(head) == cursor.head_size
        and _digest(head) == cursor.head
        and _digest(_before(path, cursor)) == cursor.tail
    )


def _before(path: str, cursor: Cursor) -> bytes:
    edge = min(EDGE, cursor.offset)
    return _bytes_at(path, cursor.offset - edge, edge) if edge else b""


def _bytes_at(path: str, offset: int, size: int) -> bytes:
    with open_stream(path) as file:
        file.seek(offset)
        return file.read(size)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


class _Reading:
    """One pass over a stream from a cursor on."""

    def __init__(self, start: Cursor, *, head: bytes, tail: bytes) -> None:
        self._offset, self._line = start.offset, start.line
        self._head, self._tail = head, tail
        self._held: list[bytes] = []
        self._held_size = 0

    def batches(
        self, file: BufferedReader, chunk: int, *, settled: bool
    ) -> Iterator[Batch]:
        self._end_of_early_line(file)
        is_told = False
        most = chunk
        while data := file.read1(most):  # what a damaged archive gives before it fails
            if not self._offset + self._held_size:
                self._head = data[:EDGE]
            cut = data.rfind(b"\n") + 1
            lines = self._take(data[:cut]) if cut else []
            self._hold(data[cut:])
            is_told = bool(lines)
            if lines:
                yield Batch(lines, self._cursor())
            if len(lines) > MOST_LINES:  # tiny ones, each of which costs as much
                most = max(most // 4, EDGE)
        last = b"".join(self._held)
        if settled and self._held_size == len(last) and _is_whole(last):
            yield Batch(self._take(b""), self._cursor())
        elif not is_told:
            yield Batch([], self._cursor())

    def _end_of_early_line(self, file: BufferedReader) -> None:
        """Step over the newline of a line that was taken before it came."""
        if not self._offset or self._tail.endswith(b"\n"):
            return
        if (end := file.readline(2)) in (b"\n", b"\r\n"):
            self._offset += len(end)
            self._tail = (self._tail + end)[-EDGE:]
        else:
            file.seek(self._offset)

    def _hold(self, rest: bytes) -> None:
        """Keep the start of a line; of one that is too long only its last bytes."""
        self._held_size += len(rest)
        self._held.append(rest)
        if self._held_size > MOST_LINE:
            self._held = [b"".join(self._held[-2:])[-EDGE:]]

    def _take(self, data: bytes) -> list[Line]:
        """The lines of `data`, the first of which goes on with what was held."""
        missing = self._held_size - sum(map(len, self._held))
        if self._held_size:
            data = b"".join((*self._held, data))
        self._held, self._held_size = [], 0
        lines: list[Line] = []
        seq, offset = self._line, self._offset
        if not offset and (size := pointer.size(data)):
            # its lines are one thing, and one reject
            lines.append(Line(seq, offset, size, data[:size].rstrip(b"\n")))
            seq += data.count(b"\n", 0, size)
            offset += size
        pieces = data[offset - self._offset :].split(b"\n")
        if not pieces[-1]:
            pieces.pop()
        for piece in pieces:
            size = len(piece) + missing
            if size > MOST_LINE:
                lines.append(Line(seq, offset, size, None))
                missing = 0
            elif piece and not piece.isspace():
                lines.append(Line(seq, offset, size, piece.removesuffix(b"\r")))
            seq += 1
            offset += size + 1
        self._line = seq
        self._offset = offset if data.endswith(b"\n") else offset - 1
        self._tail = (self._tail + data[-EDGE:])[-EDGE:]
        return lines

    def _cursor(self) -> Cursor:
        head = self._head[: self._offset]
        return Cursor(
            offset=self._offset,
            line=self._line,
            head=_digest(head),
            head_size=len(head),
            tail=_digest(self._tail),
            pending=self._held_size,
        )


def _is_whole(line: bytes) -> bool:
    """Whether it ends with a record, or is JSON of another kind."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return any(part.is_whole for part in spans(line)[-1:])
    return True
