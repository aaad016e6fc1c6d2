"""Take a session's file apart: what it says of the session and of each message.

A log says a message again and again, and changes it by `$set` and `$patch`; a document
has each message once. Both become the same records, by the ids of session and message:
what a message says last, and beside it the last tokens that it had, which a later
version without any must not replace.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, TypeAlias

import msgspec

from agentlake.adapters.sdk.contract import Keyed
from agentlake.adapters.sdk.decode import Unreadable, encode, untyped
from agentlake.adapters.sdk.splice import spans
from agentlake.adapters.sdk.values import one_step

Fields: TypeAlias = dict[str, msgspec.Raw]

_fields = msgspec.json.Decoder(Fields)
_raws = msgspec.json.Decoder(list[msgspec.Raw])
_raw = msgspec.json.Decoder(msgspec.Raw)
_EMPTY = b"\0\r \t"
_BILLED = ("id", "timestamp", "model", "tokens")
_NOT_OF_THE_SESSION = ("messages", "memoryScratchpad")


class _Session:
    """A session as far as it is read."""

    def __init__(self) -> None:
        self._about: Fields = {}
        self._records: dict[str, bytes] = {}

    def set(self, fields: Fields) -> None:
        """A shallow update of what is known of the session."""
        kept = fields.items()
        self._about |= {k: v for k, v in kept if k not in _NOT_OF_THE_SESSION}

    def add(self, data: bytes, fields: Fields) -> None:
        """A version of a message; it keeps the place of the first one."""
        name = text(fields.get("id")) or f"#{digest(data)}"
        self._records[f"messages/{name}"] = data
        if bytes(fields.get("tokens", b"null")) != b"null":
            billed = {key: fields[key] for key in _BILLED if key in fields}
            self._records[f"tokens/{name}"] = encode(billed)

    def add_all(self, messages: msgspec.Raw | None) -> None:
        """Each message of a list."""
        try:
            listed = _list(messages)
        except Unreadable:
            self.keep("damaged", bytes(messages or b""))
            return
        for message in listed:
            try:
                self.add(bytes(message), fields_of(message))
            except Unreadable:
                self.keep("damaged", bytes(message))

    def update(self, name: str | None, fields: Fields) -> None:
        """Some fields of a message, on top of what it said."""
        if name is None:
            return
        said = self._records.get(f"messages/{name}")
        before = {} if said is None else fields_of(said)
        calls = _merged(before.get("toolCalls"), fields.get("toolCalls"))
        now = before | fields | {"id": msgspec.Raw(encode(name))} | calls
        self.add(encode(now), now)

    def keep(self, kind: str, data: bytes) -> None:
        """What is neither of the session nor a message."""
        self._records[f"{kind}/{digest(data)}"] = data

    def records(self, fallback: str, folder: str | None) -> Iterator[Keyed]:
        """All of it, in order; `fallback` names a session that does not say its id."""
        session = one_step(text(self._about.get("sessionId")) or fallback)
        about = self._about | ({"$folder": folder} if folder else {})
        yield Keyed(f"{session}/session", encode(about), 0)
        for seq, (name, data) in enumerate(self._records.items(), 1):
            yield Keyed(f"{session}/{name}", data, seq)


def of_document(name: str, data: bytes, folder: str | None) -> Iterator[Keyed]:
    """A session that is one document. Raises Unreadable."""
    fields, session = fields_of(data), _Session()
    session.set(fields)
    session.add_all(fields.get("messages"))
    return session.records(name, folder)


def of_log(name: str, data: bytes, folder: str | None) -> Iterator[Keyed]:
    """A session that is a log; its last line may still be half written."""
    session = _Session()
    *lines, last = data.split(b"\n")
    for line in lines:
        for part in _parts(line.strip(_EMPTY)):
            try:
                _read(session, part, fields_of(part))
            except Unreadable:
                session.keep("damaged", part)
    for part in _parts(last.strip(_EMPTY)):
        # without its end it comes with the next load
        with suppress(Unreadable):
            _read(session, part, fields_of(part))
    return session.records(name, folder)


def _parts(line: bytes) -> list[bytes]:
    """The line, or where that is no record, what shares it."""
    try:
        _raw.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return [part.data for part in spans(line)]
    return [line]


def _read(session: _Session, line: bytes, fields: Fields) -> None:
    if "$set" in fields:
        change = fields_of(fields["$set"])
        session.set(change)
        session.add_all(change.get("messages"))
    elif "$patch" in fields:
        _apply(session, fields_of(fields["$patch"]))
        session.keep("patches", line)
    elif "$rewindTo" in fields:
        session.keep("rewinds", line)
    elif "type" in fields or "id" in fields:
        session.add(line, fields)
    elif "sessionId" in fields:
        session.set(fields)
    else:  # younger than this adapter
        session.keep("unknown", line)


def _apply(session: _Session, patch: Fields) -> None:
    if "toolCalls" in patch:
        session.update(text(patch.get("id")), {"toolCalls": patch["toolCalls"]})
    for update in _list(patch.get("updates")):
        change = fields_of(update)
        session.update(text(change.get("id")), change)


def prompts(data: bytes) -> Iterator[Keyed]:
    """The typed prompts of a project. Raises Unreadable."""
    if not isinstance(untyped(data), list):
        msg = "logs.json is no list"
        raise Unreadable(msg)
    for index, entry in enumerate(_list(data)):
        yield Keyed(f"logs/{digest(bytes(entry))}.{index}", bytes(entry), index)


def fields_of(data: bytes | msgspec.Raw) -> Fields:
    """The fields of an object, each as it stands. Raises Unreadable."""
    try:
        return _fields.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = untyped(bytes(data))
    if not isinstance(value, dict):
        msg = "no JSON object"
        raise Unreadable(msg)
    return {key: msgspec.Raw(encode(item)) for key, item in value.items()}


def text(value: msgspec.Raw | None) -> str | None:
    """A field that has to be a text; None if it is none, or empty."""
    found: Any = untyped(bytes(value)) if value is not None else None
    return found if isinstance(found, str) and found else None


def digest(data: bytes) -> str:
    """A name for what has none."""
    return hashlib.sha256(data).hexdigest()[:16]


def _list(value: bytes | msgspec.Raw | None) -> list[msgspec.Raw]:
    if value is None:
        return []
    try:
        return _raws.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = untyped(bytes(value))
    if not isinstance(found, list):
        msg = "no list"
        raise Unreadable(msg)
    return [msgspec.Raw(encode(item)) for item in found]


def _merged(before: msgspec.Raw | None, now: msgspec.Raw | None) -> Fields:
    """The tool calls of a message; one that is said again is the new one."""
    if now is None:
        return {}
    calls: dict[str, Fields] = {}
    for told in (before, now):
        times: Counter[str] = Counter()
        for fields in map(fields_of, _list(told)):
            name = text(fields.get("id")) or _asked(fields)
            times[name] += 1
            key = f"{name}.{times[name]}"
            calls[key] = calls.get(key, {}) | fields
    return {"toolCalls": msgspec.Raw(encode(list(calls.values())))}


def _asked(call: Fields) -> str:
    """What a call without an id is known by: what it asks for."""
    return digest(encode([call.get("name"), call.get("args")]))
