"""What is not a line of a transcript: the index, rows of the database, packed files."""

import base64
from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec

from agentlake.adapters.families.pi.format import ENTRY
from agentlake.adapters.families.pi.rules import At
from agentlake.adapters.openclaw import prompts, talk
from agentlake.adapters.sdk import zstd
from agentlake.adapters.sdk.contract import Facts, Keyed, Record, Reject, Table
from agentlake.adapters.sdk.decode import Decoder, Unreadable, encode, untyped
from agentlake.adapters.sdk.splice import spans
from agentlake.models.fact import Fact
from agentlake.models.session import Session

_KEPT = ("sessionId", "label", "channel", "lastChannel", "origin")
"""Of an entry of the index, what does not change with every turn. Its counters tell how
full the context is now and are no usage."""
_FIELDS = ", ".join(f"'{it}', json_extract(entry_json, '$.{it}')" for it in _KEPT)

TABLES = (
    Table(name="transcript_events", key=("session_id", "seq"), above="rowid"),
    Table(
        name="session_transcript_archives",
        key=("session_id", "generation"),
        above="rowid",
    ),
    Table(name="session_windows", key=("session_id",), without=("updated_at",)),
    Table(
        name="session_nodes",
        key=("session_key",),
        without=("updated_at",),
        instead={
            "entry_json": f"case when json_valid(entry_json)"
            f" then json_object({_FIELDS}) end"
        },
    ),
)


class Blob(msgspec.Struct, frozen=True, gc=False):
    """Bytes in a row."""

    base64: str | None = msgspec.field(default=None, name="$blob")

    def data(self) -> bytes:
        """The bytes. Raises Unreadable for what is damaged."""
        try:
            return base64.b64decode(self.base64 or "", validate=True)
        except ValueError as error:
            msg = f"no base64: {error}"
            raise Unreadable(msg) from error


class Origin(msgspec.Struct, frozen=True, gc=False):
    """Through what the session was begun."""

    provider: str | None = None


class Indexed(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """An entry of the index, with its key."""

    key: str | None = None
    session_id: str | None = None
    label: str | None = None
    channel: str | None = None
    last_channel: str | None = None
    origin: Origin | None = None


class Row(msgspec.Struct, frozen=True, gc=False):
    """A row of any of the tables."""

    session_id: str | None = None
    session_key: str | None = None
    event_json: str | None = None
    event_zstd: Blob | None = None
    encoding: str | None = None
    archive_blob: Blob | None = None
    current_session_id: str | None = None
    entry_json: str | None = None


ROW, INDEXED = Decoder(Row), Decoder(Indexed)


def unpacked(data: bytes) -> bytes:
    """What was compressed with zstd. Raises Unreadable for what is damaged."""
    try:
        return zstd.unpacked(data)
    except Unreadable as error:
        msg = f"no zstd: {error}"
        raise Unreadable(msg) from error


def entries_of_index(data: bytes) -> Iterator[Keyed]:
    """The index by its keys; a key that moves on to a new session is a new entry.

    Raises Unreadable when it is half written.
    """
    index = untyped(data)
    if not isinstance(index, dict):
        msg = "the index is no object"
        raise Unreadable(msg)
    for key, entry in index.items():
        if isinstance(entry, dict) and isinstance(entry.get("sessionId"), str):
            kept = {name: entry[name] for name in _KEPT if name in entry}
            name = f"{key}/{kept['sessionId']}"
            yield Keyed(name, encode({"key": key, **kept}))


def entry_of_index(record: Record) -> Iterable[Fact | Reject]:
    """What the index says of a session."""
    entry, rejects = INDEXED.decode(record.data)
    return chain(rejects, _indexed(entry, entry.key, entry.session_id))


def _indexed(entry: Indexed, key: str | None, session_id: str | None) -> Facts:
    """What a session is for, and through what it was begun."""
    if session_id is None:
        return
    place = prompts.place(key or "")
    origin = entry.origin.provider if entry.origin else None
    job = None
    if place.category == "cron" and entry.label:
        job = entry.label.removeprefix("Cron: ")
    yield Session(
        session_id=session_id,
        category=place.category,
        channel=place.channel or entry.channel or origin or entry.last_channel,
        job=job,
        relation=place.relation,
        title=job or entry.label or None,
        title_source="index" if entry.label else None,
    )


def row(record: Record, table: str) -> Iterable[Fact | Reject]:
    """An event of a session, a session's whole archive, or what the index knows."""
    it, rejects = ROW.decode(record.data)
    session = it.session_id or it.current_session_id
    if session is None:
        return [*rejects, Reject(f"a row of {table} without its session")]
    match table:
        case "transcript_events":
            data = (it.event_json or "").encode()
            if it.event_zstd:
                data = unpacked(it.event_zstd.data())
            return chain(rejects, lines(data, session, record.key))
        case "session_transcript_archives":
            data = it.archive_blob.data() if it.archive_blob else b""
            data = unpacked(data) if it.encoding == "zstd" else data
            return chain(rejects, lines(data, session, record.key))
        case _:
            entry, odd = INDEXED.decode((it.entry_json or "{}").encode())
            return chain(rejects, odd, _indexed(entry, it.session_key, session))


def packed(record: Record) -> Facts:
    """A whole transcript whose name does not say whose it is; its header does."""
    data = unpacked(record.data)
    header, _ = ENTRY.decode(data.partition(b"\n")[0])
    if header.id is None:
        yield Reject("the first line is no header, so its session is not known")
        return
    yield from lines(data, header.id, record.key)


def lines(data: bytes, session: str, key: str) -> Facts:
    """The facts of entries, a line each; a damaged one costs itself."""
    for number, line in enumerate(data.splitlines()):
        if line.strip():
            yield from _entries(line, At(session, f"{key}.{number}"), number + 1)


def _entries(line: bytes, at: At, number: int) -> Facts:
    """What a line says: one entry, or the several that share it."""
    try:
        yield from talk.facts(line, at)
    except Unreadable as error:
        for part in spans(line):
            if part.is_whole and part.data != line:
                own = At(at.session_id, f"{at.key}.{part.start}")
                yield from talk.facts(part.data, own)
            else:
                yield Reject(f"line {number}: {error}")
