"""Messages of Hermes: rows of the database, lines and documents of sessions/.

A session may stand in all three; the one with the most messages tells it.
"""

from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from typing import Any

import msgspec

from agentlake.adapters.hermes.format import (
    CALLS,
    LINE,
    PARTS,
    Call,
    Line,
    MessageRow,
    Part,
)
from agentlake.adapters.sdk.contract import Facts, Keyed, Reject
from agentlake.adapters.sdk.decode import Unreadable, encode, untyped
from agentlake.adapters.sdk.moments import from_epoch, moment
from agentlake.adapters.sdk.values import named, raw_json
from agentlake.models.block import Block
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult

_KINDS = {"user": "prompt", "assistant": "response", "tool": "tool_result"}
_TERMINALS = ("cli", "tui", "terminal")
DOCUMENT, LINES, DATABASE = 1, 2, 3
"""The stores of a session; of two with as many messages the last one counts."""


def begun(session_id: str, source: str | None, at: datetime | None) -> Session:
    """When a session was begun, and through what."""
    return Session(
        session_id=session_id,
        entrypoint=named(source),
        category="cron" if source == "cron" else None,
        channel=None if source in (*_TERMINALS, "cron") else named(source),
        started_at=at,
    )


class Said(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A message, from whichever store."""

    session_id: str
    message_id: str
    store: int
    role: str | None
    at: datetime | None
    parts: list[Part]
    thought: str | None
    calls: list[Call]
    tool_call_id: str | None


def row(found: MessageRow) -> Facts:
    """A row, named by its time and content: so its clones have the same name."""
    if not found.session_id:
        yield Reject("message without session_id")
        return
    said: tuple[Any, ...] = (
        found.role,
        found.content,
        found.tool_calls,
        found.tool_call_id,
    )
    if found.timestamp is None:
        said = (*said, found.session_id, found.id)
    calls, rejects = CALLS.within(found.tool_calls, [])
    yield from _facts(
        Said(
            session_id=found.session_id,
            message_id=f"{found.timestamp}:{_digest(said)}",
            store=DATABASE,
            role=found.role,
            at=from_epoch(found.timestamp),
            parts=_parts(found.content),
            thought=named(found.reasoning, found.reasoning_content),
            calls=calls,
            tool_call_id=found.tool_call_id,
        )
    )
    yield from rejects


def line(session_id: str, data: bytes, key: str) -> Facts:
    """A line of a transcript; the first one tells where the session began."""
    found, rejects = LINE.decode(data)
    if found.role == "session_meta":
        yield begun(session_id, found.platform, moment(found.timestamp))
    elif found.role:
        yield from _facts(_said(session_id, found, LINES, key))
    elif not rejects:
        yield Reject("no `role`: no line of a transcript")
    yield from rejects


def _said(session_id: str, found: Line, store: int, key: str) -> Said:
    """A line with a time is named by it, so that its clones have the same name."""
    message_id = f"{session_id}:{key}"
    if found.timestamp and store == LINES:
        said = (found.role, found.content, found.tool_calls, found.tool_call_id)
        message_id = f"{found.timestamp}:{_digest(said)}"
    return Said(
        session_id=session_id,
        message_id=message_id,
        store=store,
        role=found.role,
        at=moment(found.timestamp),
        parts=_parts(found.content),
        thought=named(found.reasoning, found.reasoning_content),
        calls=found.tool_calls or [],
        tool_call_id=found.tool_call_id,
    )


def explode(data: bytes) -> Iterable[Keyed]:
    """A document: what it says of the session, and its messages in order.

    Raises Unreadable when it is half written, or no document of a session.
    """
    document = untyped(data)
    if not isinstance(document, dict) or not isinstance(document.get("messages"), list):
        msg = "no object with `messages`"
        raise Unreadable(msg)
    kept = ("model", "platform", "session_start")
    head = {name: document[name] for name in kept if name in document}
    yield Keyed("session", encode(head), 0)
    for index, message in enumerate(document["messages"]):
        yield Keyed(f"messages/{index}", encode(message), index + 1)


def part_of_document(session_id: str, data: bytes, key: str) -> Facts:
    """What a document says of its session, or one of its messages."""
    found, rejects = LINE.decode(data)
    if key == "session":
        yield begun(session_id, found.platform, moment(found.session_start))
    else:
        yield from _facts(_said(session_id, found, DOCUMENT, key))
    yield from rejects


def _digest(said: tuple[Any, ...]) -> str:
    return sha256(msgspec.json.encode(said)).hexdigest()[:12]


def _facts(said: Said) -> Facts:
    role = said.role if said.role in _KINDS else "system"
    yield Message(
        session_id=said.session_id,
        message_id=said.message_id,
        precedence=said.store,
        role=role or "system",
        kind=_KINDS.get(role or "", "meta"),
        sent_at=said.at,
    )
    index = 0
    parts = said.parts
    if said.role == "tool":
        if said.tool_call_id:
            yield ToolResult(
                session_id=said.session_id,
                message_id=said.message_id,
                tool_call_id=said.tool_call_id,
                text="\n".join(part.text for part in parts if part.text),
                finished_at=said.at,
            )
        else:
            yield Reject("result of a tool without tool_call_id")
        parts = [Part("tool_result")]
    elif said.thought:
        parts = [Part("thinking", said.thought), *parts]
    for part in parts:
        yield Block(
            session_id=said.session_id,
            message_id=said.message_id,
            block_index=index,
            type=_block_type(part),
            text=part.text,
            tool_call_id=said.tool_call_id if part.type == "tool_result" else None,
        )
        index += 1
    for call in said.calls:
        if not call.id:
            yield Reject("call of a tool without id")
            continue
        yield Block(
            session_id=said.session_id,
            message_id=said.message_id,
            block_index=index,
            type="tool_use",
            tool_call_id=call.id,
        )
        yield ToolCall(
            session_id=said.session_id,
            message_id=said.message_id,
            tool_call_id=call.id,
            name=call.function.name,
            input=raw_json(call.function.arguments),
            called_at=said.at,
        )
        index += 1


def _parts(content: Any) -> list[Part]:
    """The parts of a content: a list if it has images, also as JSON; else one text."""
    if not content:
        return []
    if isinstance(content, str) and not content.startswith("[{"):
        return [Part("text", content)]
    data = content.encode() if isinstance(content, str) else encode(content)
    try:
        parts = PARTS.decode(data)
    except (msgspec.DecodeError, RecursionError):
        parts = []
    if parts and all(part.type for part in parts):
        return parts
    return [Part("text", content if isinstance(content, str) else data.decode())]


def _block_type(part: Part) -> str:
    if part.type in ("text", "thinking", "tool_result"):
        return part.type
    return "image" if part.type and part.type.startswith("image") else "other"
