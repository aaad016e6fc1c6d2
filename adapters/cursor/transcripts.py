"""Transcripts without ids or times, and the list of titles."""

import re
from collections.abc import Iterator
from itertools import pairwise

from agentlake.adapters.cursor.format import (
    LINE,
    LINES,
    TEXT,
    TITLE,
    Line,
    Model,
    Piece,
)
from agentlake.adapters.cursor.prompts import prompt_blocks, prompt_kind
from agentlake.adapters.sdk.contract import Facts, Keyed, Record, Reject, Table
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.sdk.values import posix_path, raw_json, text_of
from agentlake.models.block import Block
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.turn import Turn

TABLES = (Table(name="conversation_summaries", key=("conversationId",)),)

_TYPES = {name: name for name in ("text", "thinking", "tool_use", "tool_result")}
_TURN = re.compile(r"^(user|assistant|A):[ \t]*", re.MULTILINE)
_MARK = re.compile(r"^\[(Thinking|Tool call|Tool result)\][ \t]*(.*)$\n?", re.MULTILINE)


def title(record: Record) -> Facts:
    """What the list of titles says of a conversation, whichever store has it."""
    row, rejects = TITLE.decode(record.data)
    if row.conversation_id:
        yield Session(
            session_id=row.conversation_id,
            title=row.title or None,
            title_source="index",
        )
        if model := Model(row.model).name:
            yield Turn(
                session_id=row.conversation_id,
                kind="context",
                model=model,
                began_at=moment(row.updated_at),
            )
    yield from rejects


def line(record: Record) -> Facts:
    """One line: a message, or the mark at the end of a turn."""
    said, rejects = LINE.decode(record.data)
    if said.role in ("user", "assistant"):
        session_id = _session_of(record)
        yield from _parent(record, session_id)
        yield from _message(session_id, f"{session_id}/{record.key}", said)
    yield from rejects


def _session_of(record: Record) -> str:
    return posix_path(record.stream.path).stem


def _parent(record: Record, session_id: str) -> Facts:
    """The session in whose folder a subagent's transcript lies."""
    folder = posix_path(record.stream.path).parent
    if folder.name == "subagents":
        yield Session(
            session_id=session_id,
            parent_session_id=folder.parent.name,
            relation="subagent",
        )


def _message(session_id: str, message_id: str, said: Line) -> Facts:
    content = said.message.content if said.message else None
    pieces = [Piece("text", content)] if isinstance(content, str) else content or []
    texts = [piece.text or "" for piece in pieces if piece.type == "text"]
    kind = "response" if said.role == "assistant" else prompt_kind(texts)
    if any(piece.type == "tool_result" for piece in pieces) and kind == "prompt":
        kind = "prompt" if texts else "tool_result"
    yield Message(
        session_id=session_id,
        message_id=message_id,
        role=said.role or "user",
        kind=kind,
        precedence=LINES,
    )
    if said.role == "user":
        where = Block(
            session_id=session_id, message_id=message_id, block_index=0, type="other"
        )
        yield from prompt_blocks(where, texts)
    for index, piece in enumerate(pieces):
        if piece.type != "text" or said.role == "assistant":
            yield from _piece(session_id, message_id, index, piece)


def _piece(session_id: str, message_id: str, index: int, piece: Piece) -> Facts:
    """A piece; a call without an id is named after its place."""
    is_call, is_result = piece.type == "tool_use", piece.type == "tool_result"
    call = piece.tool_use_id if is_result else None
    if is_call:
        call = piece.id or f"{message_id}/{index}"
    answer = text_of(piece.content) if is_result else None
    yield Block(
        session_id=session_id,
        message_id=message_id,
        block_index=index,
        type=_TYPES.get(piece.type or "", "other"),
        text=answer if is_result and not call else piece.text,
        tool_call_id=call,
    )
    if is_call and call:
        yield ToolCall(
            session_id=session_id,
            message_id=message_id,
            tool_call_id=call,
            name=piece.name,
            input=raw_json(piece.input),
        )
    elif is_result and call:
        yield ToolResult(
            session_id=session_id,
            message_id=message_id,
            tool_call_id=call,
            text=answer,
            is_error=piece.is_error,
        )


def turns(data: bytes) -> Iterator[Keyed]:
    """A transcript of the old form, turn by turn; each begins with who speaks."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    starts = [found.start() for found in _TURN.finditer(text)]
    for place, (start, end) in enumerate(pairwise([*starts, len(text)])):
        yield Keyed(f"turn/{place}", text[start:end].strip().encode())


def turn(record: Record) -> Facts:
    """A turn: texts, thoughts, calls; a result is that of the call before it."""
    session_id = _session_of(record)
    message_id = f"{session_id}/{record.key}"
    text = record.data.decode("utf-8", "replace")
    found = _TURN.match(text)
    if found is None:
        yield Reject("a turn that does not say who speaks")
        return
    is_user = found[1] == "user"
    first, *marked = _MARK.split(text[found.end() :])
    yield Message(
        session_id=session_id,
        message_id=message_id,
        role="user" if is_user else "assistant",
        kind=prompt_kind([first]) if is_user else "response",
        precedence=TEXT,
    )
    where = Block(
        session_id=session_id, message_id=message_id, block_index=0, type="text"
    )
    if is_user:
        yield from prompt_blocks(where, [first.strip()])
        return
    pieces: list[Piece] = [Piece("text", first.strip())] if first.strip() else []
    call = None
    for place, (mark, on_line, rest) in enumerate(
        zip(marked[::3], marked[1::3], marked[2::3], strict=True)
    ):
        said = rest.strip()
        if mark == "Tool call":
            call = f"{message_id}/call {place}"
            pieces.append(
                Piece("tool_use", id=call, name=on_line.strip(), input=said or None)
            )
        elif mark == "Tool result":
            both = "\n".join(filter(None, (on_line.strip(), said)))
            pieces.append(Piece("tool_result", content=both, tool_use_id=call))
            call = None
        else:
            both = "\n".join(filter(None, (on_line.strip(), said)))
            pieces.append(Piece("thinking", both))
    for index, piece in enumerate(pieces):
        yield from _piece(session_id, message_id, index, piece)
