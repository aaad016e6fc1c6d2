"""Records that share a line: two writers met, or a writer was killed within a record.

`{...}{...}` are two records; `{"a": 1, "b": "cut{...}` is one that was cut and a whole
one after it. What is whole counts as if it stood on a line of its own; what is not
is named. An object inside a record that was cut is never taken for a record.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

_START = re.compile(r'\{\s*"')
_BLANK = re.compile("[\\s\0\ufeff]*")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')
_MOST_TRIES = 64
"""Starts that are tried after one damage, and ..."""
_MOST_BYTES = 32 << 20
"""... the longest line that is taken apart: so a damaged line stays cheap."""
_LEAST_NAMES = 3

_decoder = json.JSONDecoder()


class Span(NamedTuple):
    """A part of a line: a whole record, or bytes that are none."""

    start: int
    data: bytes
    is_whole: bool


def spans(line: bytes) -> list[Span]:
    """The parts of a line, in order; a line that is no JSON at all is one span."""
    if len(line) > _MOST_BYTES:
        return [Span(0, line, is_whole=False)]
    text = line.decode("utf-8", "surrogateescape")
    found: list[Span] = []
    offset = at = 0
    for start, end, is_whole in _cut(text):
        offset += len(text[at:start].encode("utf-8", "surrogateescape"))
        data = text[start:end].encode("utf-8", "surrogateescape")
        found.append(Span(offset, data, is_whole))
        offset, at = offset + len(data), end
    return found


def _cut(text: str) -> Iterator[tuple[int, int, bool]]:
    at = _after_blanks(text, 0)
    while at < len(text):
        value, end = _value(text, at)
        if not isinstance(value, dict):
            start = _next_whole(text, at, end)
            yield at, start, False
            at = start
            continue
        yield at, end, True
        at = _after_blanks(text, end)


def _after_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int) -> tuple[Any, int]:
    """The JSON value that begins here and its end; or None and where it is damaged."""
    try:
        return _decoder.raw_decode(text, at)
    except json.JSONDecodeError as error:
        return None, error.pos
    except RecursionError:
        return None, at


def _next_whole(text: str, damaged: int, error: int) -> int:
    """Where the first whole record after a damage begins; the end if there is none.

    A start inside a text that was cut lies before the error: the quote of its first
    name ends the text, and the name itself is what does not fit.
    """
    before = text.rfind("{", damaged + 1, error + 1)
    starts = [before] if before >= 0 and _START.match(text, before) else []
    found = islice(_START.finditer(text, error), _MOST_TRIES)
    starts += [one.start() for one in found]
    for start in starts:
        value, end = _value(text, start)
        if isinstance(value, dict) and end > error and _ends_well(text, end):
            return start
    return _nested_whole(text, damaged)


def _ends_well(text: str, end: int) -> bool:
    """Whether a record may end here: what is inside another one goes on otherwise."""
    after = _after_blanks(text, end)
    return after == len(text) or text[after] == "{"


def _nested_whole(text: str, damaged: int) -> int:
    """The start of a record that follows where the one before it expected a value.

    `{"type": "a", "at": {"type": "b", "at": 1}` may be a record that was cut after
    an object of its own, too. It is taken for two if the second begins with the name
    that the first begins with, and is no small thing like `{"type": .., "text": ..}`.
    """
    opened: list[int] = []
    names: list[str] = []
    last = -1
    for token in _TOKEN.finditer(text, damaged):
        mark = token[0]
        if mark in "{[":
            opened.append(token.start())
        elif mark in "}]":
            last = opened.pop() if opened else -1
        elif len(opened) == 1 and text.startswith(
            ":", _after_blanks(text, token.end())
        ):
            names.append(mark)
    if last <= damaged or not names:
        return len(text)
    value, end = _value(text, last)
    is_last = isinstance(value, dict) and _after_blanks(text, end) == len(text)
    return last if is_last and _is_alike(value, names) else len(text)


def _is_alike(value: Mapping[str, Any], names: list[str]) -> bool:
    """`names` as they are written, with their quotes."""
    own = [name[1:-1] for name in names]
    is_small = len(value) < _LEAST_NAMES and 2 * sum(
        map(value.__contains__, own)
    ) <= len(own)
    return next(iter(value), "") == own[0] and not is_small
