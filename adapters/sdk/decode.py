"""Decode a JSON record into a typed struct, and save what can be saved of a bad one.

The fast way is one typed msgspec decode. When it fails, the record is decoded
without types, the one offending value is taken out and named in a Reject, and the
rest is converted again: an odd field must not cost the record its usage.
"""

import json
import re
from typing import Any, Generic, TypeVar

import msgspec

from agentlake.adapters.sdk.contract import Reject
from agentlake.adapters.sdk.moments import from_epoch

T = TypeVar("T")

_encoder = msgspec.json.Encoder()
_untyped = msgspec.json.Decoder()
_at = re.compile(r" - at `\$(?P<path>.*)`$")
_step = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_token = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_surrogate = re.compile("[\ud800-\udfff]")

_MOST_REPAIRS = 64
_MOST_DEPTH = 200
"""What is deeper is kept as a text: to walk it, Python would run out of calls."""


class Unreadable(ValueError):
    """The record is no JSON, or not of the shape that its decoder asks for."""


def encode(value: Any) -> bytes:
    """A value as compact JSON in UTF-8."""
    return _encoder.encode(value)


class Decoder(Generic[T]):
    """Decodes records into `shape`; `(value, rejects)` of a damaged one."""

    def __init__(self, shape: type[T]) -> None:
        self._typed = msgspec.json.Decoder(shape)

    def decode(self, data: bytes) -> tuple[T, list[Reject]]:
        """The typed value, and a Reject for each part that had to be left out.

        NUL bytes around it (a crash leaves them) and a byte order mark are skipped.
        Raises Unreadable when nothing of the record can be understood.
        """
        try:
            return self._typed.decode(data), []
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self._salvage(data)

    def within(self, text: str | None, otherwise: T) -> tuple[T, list[Reject]]:
        """JSON in a text of a record; `otherwise`, and why, if it cannot be read.

        No text, or an empty one, is nothing to complain about.
        """
        if not text:
            return otherwise, []
        try:
            return self.decode(text.encode())
        except Unreadable as error:
            return otherwise, [Reject(str(error))]

    def _salvage(self, data: bytes) -> tuple[T, list[Reject]]:
        value = untyped(data)
        reason = ""
        rejects: list[Reject] = []
        for repairs in range(_MOST_REPAIRS * 2):
            try:
                return self._typed.decode(encode(value)), rejects
            except msgspec.ValidationError as error:
                reason = str(error)
                try:
                    reject = _repair(value, reason, whole=repairs >= _MOST_REPAIRS)
                except LookupError:
                    raise Unreadable(reason) from error
                if reject is not None:
                    rejects.append(reject)
        msg = f"more odd values than can be taken out, the last: {reason}"
        raise Unreadable(msg)


def untyped(data: bytes) -> Any:
    """The record as dicts and lists; lone surrogates become U+FFFD.

    Raises Unreadable when it is no JSON.
    """
    body = data.strip(b"\0").removeprefix(b"\xef\xbb\xbf")
    try:
        return _untyped.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    except RecursionError:
        body = _shallow(body)
    try:
        return _without_surrogates(
            json.loads(
                body.decode("utf-8", "replace"),
                parse_constant=str,  # NaN is no number: named like any odd value
            )
        )
    except (ValueError, RecursionError) as error:
        msg = f"no JSON: {error}"
        raise Unreadable(msg) from error


def _shallow(data: bytes) -> bytes:
    """The same JSON, with what is too deep as the text that it was."""
    parts: list[bytes] = []
    depth = end = start = 0
    for token in _token.finditer(data):
        mark = token[0]
        if mark in b"{[":
            depth += 1
            if depth == _MOST_DEPTH:
                start = token.start()
        elif mark in b"}]":
            depth -= 1
            if depth == _MOST_DEPTH - 1:
                text = data[start : token.end()].decode("utf-8", "replace")
                parts += (data[end:start], encode(text))
                end = token.end()
    return b"".join((*parts, data[end:]))


def _without_surrogates(value: Any) -> Any:
    match value:
        case str():
            return _surrogate.sub("\ufffd", value)
        case list():
            return [_without_surrogates(item) for item in value]
        case dict():
            return {
                _without_surrogates(key): _without_surrogates(item)
                for key, item in value.items()
            }
        case _:
            return value


def _repair(value: Any, reason: str, *, whole: bool) -> Reject | None:
    """Set right the value that msgspec's message points at, or take it out.

    `whole` takes out the whole list that it is in: too much of it is odd.

    A whole number written as `12.0`, and a time written as seconds or milliseconds
    since 1970, are what they mean; everything else is named in a Reject.
    Raises LookupError when the message points nowhere.
    """
    found = _at.search(reason)
    # msgspec does not say at which key of a mapping: then all of it is odd.
    steps = _step.findall(found["path"].partition("[...]")[0]) if found else []
    if not steps:
        raise LookupError(reason)
    if whole:
        in_list = next((n for n, (_, index) in enumerate(steps) if index), len(steps))
        steps = steps[: in_list or 1]
    for name, index in steps[:-1]:
        value = value[name or int(index)]
    name, index = steps[-1]
    step = name or int(index)
    meant = _meant(value[step], reason)
    if meant is None:
        del value[step]
        return Reject(reason.replace("`$.", "`"))
    value[step] = meant
    return None


def _meant(value: Any, reason: str) -> Any:
    match value:
        case bool():
            return None
        case float() if value.is_integer() and "Expected `int" in reason:
            return int(value)
        case int() | float() if "Expected `datetime" in reason:
            at = from_epoch(value)
            return at and at.isoformat()
        case _:
            return None
