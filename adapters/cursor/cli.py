"""The command line: a database per session, whose messages hang on a root.

Blobs are named by what they hold and never change; the newest root names its messages
in order. So a message is known by its blob and which occurrence of it this is, and what
the root no longer names is gone.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from agentlake.adapters.cursor.format import (
    ABOUT,
    COMMAND_LINE,
    META,
    SAID,
    STATE,
    About,
    Added,
    OfCursor,
    Part,
    Said,
    State,
)
from agentlake.adapters.cursor.prompts import prompt_blocks, prompt_kind
from agentlake.adapters.sdk.contract import Chunk, Facts, Keyed, Record, Reject
from agentlake.adapters.sdk.decode import Unreadable, encode
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.sdk.protobuf import Fields
from agentlake.adapters.sdk.readers import live
from agentlake.adapters.sdk.values import file_path, json_text, posix_path
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.link import Link
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.turn import Turn

_MESSAGES, _WORKSPACES, _SUBAGENTS = 1, 9, 16  # fields of the root
_SUMMARIES = (6, 11, 13)
_ID_BYTES = 32
_DAMAGE = "damage"
_TYPES = {
    "text": "text",
    "reasoning": "thinking",
    "redacted-reasoning": "thinking",
    "tool-call": "tool_use",
    "tool-result": "tool_result",
    "image": "image",
}
_KINDS = {"assistant": "response", "tool": "tool_result", "system": "meta"}


def read(path: str, cursor: Any) -> Iterator[Chunk]:
    """The session and its messages; nothing, if it says what it said before.

    What is damaged is a record, too. Raises Unreadable for a root that is not there,
    `live.Busy` and sqlite3.DatabaseError.
    """

    def page(connection: sqlite3.Connection, state: None) -> tuple[Chunk, None]:
        del state
        told = connection.execute(
            "select cast(value as text) from meta where key = '0'"
        ).fetchone()
        text = (told[0] if told else None) or ""
        if text == cursor:
            return Chunk(records=[], cursor=text), None
        records, damage = _whole(connection, text)
        if damage:
            records.append(Keyed(_DAMAGE, damage.encode()))
            return Chunk(records=records, cursor=None), None
        complete = ("",) if records else ()
        return Chunk(records=records, cursor=text, complete=complete), None

    return live.pages(path, page, None)


def _whole(connection: sqlite3.Connection, text: str) -> tuple[list[Keyed], str]:
    """All that hangs on the newest root, which is named here, and what was odd of it.

    A session that has not begun has no root. Raises Unreadable.
    """
    try:
        said = text.encode() if text.startswith("{") else bytes.fromhex(text)
        meta, _ = META.decode(said or b"{}")
    except (ValueError, Unreadable) as error:
        return [], f"meta is no hexadecimal JSON: {error}"
    root_id = meta.latest_root_blob_id
    if not root_id:
        return [], ""
    root = _blob(connection, root_id)
    if root is None:
        msg = f"the root {root_id} is not among the blobs"
        raise Unreadable(msg)
    fields, damage = Fields.as_far_as(root)
    state = State(
        meta=meta,
        workspaces=[it.decode("utf-8", "replace") for it in fields.all(_WORKSPACES)],
        subagents=list(_names(fields.all(_SUBAGENTS))),
        is_compacted=any(number in fields for number in _SUMMARIES),
    )
    records = [Keyed("session", encode(state), 0)]
    seen: Counter[str] = Counter()
    for place, name in enumerate(fields.all(_MESSAGES), 1):
        if len(name) != _ID_BYTES:
            continue
        id_ = name.hex()
        again = seen[id_]
        seen[id_] += 1
        key = f"message/{id_}~{again}" if again else f"message/{id_}"
        records.append(Keyed(key, _blob(connection, id_) or b"", place))
    return records, f"the root is damaged: {damage}" if damage else ""


def _blob(connection: sqlite3.Connection, id_: str) -> bytes | None:
    rows = connection.execute(
        "select cast(data as blob) from blobs where id = ?", [id_]
    ).fetchone()
    return rows[0] if rows else None


def _names(entries: list[bytes]) -> Iterator[str]:
    """The keys of a protobuf map."""
    for entry in entries:
        fields, _ = Fields.as_far_as(entry)
        if name := fields.text(1):
            yield name


def parse(record: Record) -> Facts:
    """The session, a message, or what stands beside the database."""
    session_id = posix_path(record.stream.path).parent.name
    if record.key == "about":
        about, rejects = ABOUT.decode(record.data)
        yield from _about(session_id, about)
    elif record.key == _DAMAGE:
        rejects = [Reject(record.data.decode())]
    elif record.key == "session":
        state, rejects = STATE.decode(record.data)
        yield from _session(session_id, state)
    elif record.data:
        said, rejects = SAID.decode(record.data)
        name = record.key.removeprefix("message/")
        yield from _message(session_id, f"{session_id}/{name}", said)
    else:
        rejects = [Reject("a message of the root is not among the blobs")]
    yield from rejects


def _about(session_id: str, about: About) -> Facts:
    began, ended = moment(about.created_at_ms), moment(about.updated_at_ms)
    yield Session(
        session_id=session_id,
        relation="subagent" if about.is_subagent else None,
        title=about.title or None,
        title_source="ai",
        cwd=about.cwd or None,
        started_at=began,
    )
    for kind, at in (("started", began), ("ended", ended)):
        if at:
            yield Turn(session_id=session_id, kind=kind, began_at=at)


def _session(session_id: str, state: State) -> Facts:
    meta = state.meta
    began = moment(meta.created_at)
    yield Session(
        session_id=session_id,
        title=meta.name or None,
        title_source="ai",
        cwd=file_path(next(iter(state.workspaces), None)),
        started_at=began,
    )
    if meta.last_used_model:
        yield Turn(
            session_id=session_id,
            kind="context",
            model=meta.last_used_model,
            began_at=began,
        )
    for child in state.subagents:
        yield Link(session_id=child, parent_session_id=session_id, relation="subagent")
    if state.is_compacted:
        yield Compaction(
            session_id=session_id, compaction_id=f"{session_id}/latest summary"
        )


def _message(session_id: str, message_id: str, said: Said) -> Facts:
    content = said.content
    parts = [Part("text", content)] if isinstance(content, str) else content or []
    texts = [part.text or "" for part in parts if part.type == "text"]
    added = (said.provider_options or Added()).cursor or OfCursor()
    is_user = said.role == "user"
    role = said.role if is_user or said.role in _KINDS else "system"
    yield Message(
        session_id=session_id,
        message_id=message_id,
        turn_id=added.request_id,
        role=role or "system",
        kind=prompt_kind(texts) if is_user else _KINDS.get(role or "", "meta"),
        model=added.model_name,
        precedence=COMMAND_LINE,
    )
    where = Block(
        session_id=session_id, message_id=message_id, block_index=0, type="other"
    )
    if is_user:
        yield from prompt_blocks(where, texts)
        parts = [part for part in parts if part.type != "text"]
    for index, part in enumerate(parts, len(texts) if is_user else 0):
        yield from _part(where, index, part)


def _part(where: Block, index: int, part: Part) -> Facts:
    type_ = _TYPES.get(part.type or "", "other")
    yield msgspec.structs.replace(
        where,
        block_index=index,
        type=type_,
        text=part.text,
        tool_call_id=part.tool_call_id,
    )
    if type_ not in ("tool_use", "tool_result"):
        return
    if not part.tool_call_id:
        yield Reject(f"`{part.type}` does not name its call")
    elif type_ == "tool_use":
        yield ToolCall(
            session_id=where.session_id,
            message_id=where.message_id,
            tool_call_id=part.tool_call_id,
            name=part.tool_name,
            input=json_text(part.args),
        )
    else:
        yield ToolResult(
            session_id=where.session_id,
            message_id=where.message_id,
            tool_call_id=part.tool_call_id,
            text=_text(part.result),
            is_error=part.is_error,
        )


def _text(result: Any) -> str | None:
    match result:
        case None | str():
            return result
        case list(parts) if all(isinstance(it, dict) and "text" in it for it in parts):
            return "\n".join(str(it["text"]) for it in parts)
        case other:
            return json_text(other)
