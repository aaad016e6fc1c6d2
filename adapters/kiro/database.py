"""Conversations in data.sqlite3, of Amazon Q and of the older Kiro CLI.

A row holds a window on its conversation: entries come at the end, and go at the front
when they are summed up or trimmed. So each entry is a record of its own, by its own id.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import msgspec

from agentlake.adapters.kiro.format import (
    CONVERSATION,
    ENTRY,
    HEAD,
    ROW,
    Conversation,
    Entry,
    QReply,
    QResult,
    QUser,
    Request,
    Row,
)
from agentlake.adapters.kiro.talk import Say, head_facts
from agentlake.adapters.sdk.contract import Facts, Keyed, Record, Reject, Table
from agentlake.adapters.sdk.decode import Unreadable, encode
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.sdk.values import json_text
from agentlake.models.compaction import Compaction

_APART = 10
"""Places between entries without a time: the messages of an entry are counted on."""
_NEWEST = """updated_at = (
    select max(updated_at) from conversations_v2 as other
    where other.conversation_id = conversations_v2.conversation_id
)"""


def tables() -> tuple[Table, ...]:
    """The two tables of conversations; others hold secrets and the shell's history."""
    return (
        Table(name="conversations", key=("key",), parts=parts),
        Table(
            name="conversations_v2",
            key=("key", "conversation_id"),
            version="updated_at || '/' || length(value)",
            where=_NEWEST,
            parts=parts,
        ),
    )


class Part(msgspec.Struct, omit_defaults=True):
    """A part of a row as a record."""

    session_id: str
    entry: msgspec.Raw = msgspec.Raw()
    summary: Any = None
    reasons: list[str] = []


_part = msgspec.json.Decoder(Part)


def parts(record: Keyed) -> Iterator[Keyed]:
    """A row as records: what is said of the conversation, then each entry."""
    table = record.key.partition("/")[0]
    session_id = f"{table}:{_digest(record.data)}"
    try:
        row, rejects = ROW.decode(record.data)
        session_id = (
            row.conversation_id or f"{table}:{_digest((row.key or '').encode())}"
        )
        told, more = CONVERSATION.decode((row.value or "").encode())
    except Unreadable as error:
        yield _damaged(table, session_id, [str(error)])
        return
    session_id = row.conversation_id or told.conversation_id or session_id
    top = _top(table, session_id)
    yield Keyed(f"{top}/session", _head(session_id, row, told), 0)
    if told.latest_summary:
        summary = Part(session_id, summary=told.latest_summary)
        yield Keyed(f"{top}/summary/{_digest(encode(summary))}", encode(summary))
    given: set[str] = set()
    last = 0
    for raw in told.history:
        name, at = _identity(bytes(raw))
        last = last + _APART if at is None else at
        if name not in given:
            given.add(name)
            data = encode(Part(session_id, entry=raw))
            yield Keyed(f"{top}/entry/{name}", data, last)
    if reasons := [one.reason for one in (*rejects, *more)]:
        yield _damaged(table, session_id, reasons)


def _top(table: str, session_id: str) -> str:
    return f"{table}/{session_id.replace('/', '%2F')}"


def _damaged(table: str, session_id: str, reasons: list[str]) -> Keyed:
    data = encode(Part(session_id, reasons=reasons))
    return Keyed(f"{_top(table, session_id)}/damaged", data)


def _head(session_id: str, row: Row, told: Conversation) -> bytes:
    model = told.model_info.model_id if told.model_info else None
    return encode(
        {
            "session_id": session_id,
            "cwd": row.key,
            "created_at": row.created_at,
            "model": model,
        }
    )


def _identity(raw: bytes) -> tuple[str, int | None]:
    """What names an entry in every version of its row, and its place among them."""
    try:
        entry, _ = ENTRY.decode(raw)
    except Unreadable:
        return _digest(raw), None
    request = entry.request_metadata or Request()
    at = moment(entry.user.timestamp) if entry.user else None
    began = at.timestamp() * 1000 if at else request.request_start_timestamp_ms
    return _own_id(entry) or _digest(raw), None if began is None else int(began)


def _own_id(entry: Entry) -> str | None:
    request, reply = entry.request_metadata, _reply(entry)
    return (request and request.message_id) or (reply and reply.message_id) or None


def _reply(entry: Entry) -> QReply | None:
    it = entry.assistant
    return (it.tool_use or it.response) if it else None


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]


def facts(record: Record) -> Facts:
    """The facts of one part of a row."""
    kind = record.key.split("/", 3)[2]
    if kind == "session":
        head, rejects = HEAD.decode(record.data)
        yield from head_facts(head)
        yield from rejects
        return
    part = _part.decode(record.data)
    if part.entry:
        yield from _entry(part.session_id, bytes(part.entry))
    elif part.summary is not None:
        yield from _summary(part.session_id, part.summary)
    for reason in part.reasons:
        yield Reject(reason)


def _summary(session_id: str, summary: Any) -> Facts:
    """What the trimmed part was summed up as; beside it stands its request."""
    text, *more = summary if isinstance(summary, list) else [summary]
    request = more[0] if more and isinstance(more[0], dict) else {}
    began = request.get("request_start_timestamp_ms")
    at = moment(began) if isinstance(began, int | float) else None
    name = f"{session_id}:summary:{_digest(encode(summary))}"
    yield Compaction(session_id=session_id, compaction_id=name, compacted_at=at)
    if isinstance(text, str):
        say = Say(session_id, name, at)
        yield from say.message("system", "compaction_summary")
        yield say.text(text)


def _entry(session_id: str, raw: bytes) -> Facts:
    entry, rejects = ENTRY.decode(raw)
    name = _own_id(entry) or f"{session_id}:{_digest(raw)}"
    if entry.user:
        yield from _user(session_id, name, entry.user)
    reply, request = _reply(entry), entry.request_metadata or Request()
    if reply:
        ended = request.stream_end_timestamp_ms or request.request_start_timestamp_ms
        say = Say(session_id, name, moment(ended))
        yield from say.message("assistant", "response", request.model_id)
        if reply.content:
            yield say.text(reply.content)
        for use in reply.tool_uses:
            yield from say.call(use.id, use.name, use.args)
    yield from rejects


def _user(session_id: str, name: str, user: QUser) -> Facts:
    at, content = moment(user.timestamp), user.content
    cancelled = content.cancelled_tool_uses
    answers = content.tool_use_results or cancelled
    results = answers.tool_use_results if answers else []
    state = user.env_context.env_state if user.env_context else None
    cwd = state.current_working_directory if state else None
    if results:
        say = Say.results(session_id, results[0].tool_use_id, name, at)
        yield from say.message("tool", "tool_result", cwd=cwd)
        for one in results:
            yield from say.result(
                one.tool_use_id, _text(one), one.status, is_cancelled=bool(cancelled)
            )
    said = content.prompt or cancelled
    prompt = said.prompt if said else None
    if prompt or user.images:
        say = Say.prompt(session_id, prompt, name, at)
        yield from say.message("user", "prompt", cwd=cwd)
        if prompt:
            yield say.text(prompt)
        for _ in user.images or ():
            yield say.block("image")


def _text(result: QResult) -> str | None:
    """The texts of an answer; what is JSON stays JSON."""
    said = [
        value if isinstance(value, str) else json_text(value)
        for item in result.content
        for value in item.values()
    ]
    return "\n".join(text for text in said if text) or None
