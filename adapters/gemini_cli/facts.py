"""Facts of a session: who it is, what was said, what it cost."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from msgspec.structs import replace

from agentlake.adapters.gemini_cli.format import (
    BILLED,
    MESSAGE,
    PATCHED,
    SESSION,
    Part,
    Tokens,
)
from agentlake.adapters.gemini_cli.format import Message as Said
from agentlake.adapters.gemini_cli.format import ToolCall as Call
from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.decode import untyped
from agentlake.adapters.sdk.injected import Injected
from agentlake.adapters.sdk.values import json_text
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.link import Link
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.usage import Usage

Content: TypeAlias = str | list[Part] | Part | None

_SETUP = "This is the Gemini CLI. We are setting up the context"
"""How the context begins that old versions put in front of the first prompt."""
_INJECTED = Injected("session_context", "hook_context", "system-reminder")
_KINDS = {
    "user": ("user", "prompt"),
    "gemini": ("assistant", "response"),
    "error": ("system", "error"),
}
_ENDED = {"success": False, "error": True, "cancelled": True}


def session(session_id: str, parent: str | None, data: bytes) -> Facts:
    """A session; the folder of a subagent's is named by its parent."""
    about, rejects = SESSION.decode(data)
    yield Session(
        session_id=session_id,
        parent_session_id=parent,
        relation="subagent" if parent or about.kind == "subagent" else None,
        title=about.summary or None,
        title_source="summary" if about.summary else None,
        cwd=about.folder or next(iter(about.directories or ()), None),
        started_at=about.start_time,
    )
    yield from rejects


def message(session_id: str, name: str, data: bytes) -> Facts:
    """What was said last under this id, with the tool calls and their results."""
    said, rejects = MESSAGE.decode(data)
    yield from rejects
    if said.type is None:
        if not rejects:
            yield Reject("a message without type")
        return
    message_id = f"{session_id}:{name}"
    role, kind = _KINDS.get(said.type, ("system", "meta"))
    blocks = list(_blocks(said))
    if kind == "prompt":
        typed = [(type_, _typed(text)) for type_, text in blocks]
        if any(type_ != "text" or text for type_, text in typed):
            blocks = [one for one in typed if one != ("text", "")]
        elif blocks:
            kind = "meta"
    yield Message(
        session_id=session_id,
        message_id=message_id,
        record_id=name,
        role=role,
        kind=kind,
        model=said.model,
        sent_at=said.timestamp,
    )
    for index, (type_, text) in enumerate(blocks):
        yield Block(
            session_id=session_id,
            message_id=message_id,
            block_index=index,
            type=type_,
            text=text,
        )
    for place, call in enumerate(said.tool_calls or ()):
        name = call.id or _answered(call) or f"{message_id}.{place}"
        named = replace(call, id=name, timestamp=call.timestamp or said.timestamp)
        yield from _call(session_id, message_id, named, len(blocks) + place)


def _blocks(said: Said) -> Iterator[tuple[str, str | None]]:
    for thought in said.thoughts or ():
        lines = (thought.subject, thought.description)
        yield "thinking", "\n".join(line for line in lines if line) or None
    # what the user saw: `@file` is not yet the file's text
    for part in _parts(said.shown if said.shown is not None else said.content):
        if part.text is not None:
            yield "text", part.text
        else:
            yield "image" if part.inline_data is not None else "other", None


def _typed(text: str | None) -> str | None:
    """A text without what the program put around it."""
    if text is None or text.lstrip().startswith(_SETUP):
        return None if text is None else ""
    return _INJECTED.without(text)[0]


def _parts(content: Content) -> Iterable[Part]:
    match content:
        case None | "":
            return ()
        case str():
            return (Part(text=content),)
        case Part():
            return (content,)
        case _:
            return content


def _call(session_id: str, message_id: str, call: Call, index: int) -> Facts:
    call_id = call.id or ""
    yield ToolCall(
        session_id=session_id,
        message_id=message_id,
        tool_call_id=call_id,
        name=call.name,
        input=json_text(call.args),
        called_at=call.timestamp,
    )
    yield Block(
        session_id=session_id,
        message_id=message_id,
        block_index=index,
        type="tool_use",
        tool_call_id=call_id,
    )
    if call.result is not None or call.status in _ENDED:
        yield ToolResult(
            session_id=session_id,
            message_id=message_id,
            tool_call_id=call_id,
            text=_answer(call),
            is_error=_ENDED.get(call.status or ""),
        )
    if call.agent_id:
        yield Link(
            session_id=call.agent_id,
            parent_session_id=session_id,
            relation="subagent",
            tool_call_id=call_id,
            linked_at=call.timestamp,
        )


def _answered(call: Call) -> str | None:
    """The id of a call that only its answer names."""
    parts = _parts(call.result)
    ids = (part.function_response.id for part in parts if part.function_response)
    return next(filter(None, ids), None)


def _answer(call: Call) -> str | None:
    texts = []
    for part in _parts(call.result):
        match part.function_response.response if part.function_response else part.text:
            case None:
                continue
            case str(text) | {"output": str(text)} | {"error": str(text)}:
                texts.append(text)
            case other:
                texts.append(json_text(other) or "")
    shown = call.result_display
    return "\n".join(texts) or (shown if isinstance(shown, str) else None)


def tokens(session_id: str, name: str, data: bytes) -> Facts:
    """The bill of one request; counts of 0 are those of one that never came back."""
    billed, rejects = BILLED.decode(data)
    if (counts := billed.tokens) and _total(counts):
        cached = counts.cached or 0
        prompt = counts.input
        if prompt is not None and not _is_disjoint(counts):
            prompt -= cached
        if counts.tool:
            prompt = (prompt or 0) + counts.tool
        output = counts.output
        if counts.thoughts:
            output = (output or 0) + counts.thoughts
        yield Usage(
            session_id=session_id,
            message_id=f"{session_id}:{name}",
            usage_key=f"{session_id}:{name}",
            model=billed.model,
            called_at=billed.timestamp,
            input_tokens=prompt,
            cache_read_tokens=counts.cached,
            cache_write_tokens=0,
            output_tokens=output,
            reasoning_tokens=counts.thoughts,
        )
    yield from rejects


def _total(counts: Tokens) -> int:
    parts = (counts.input, counts.output, counts.thoughts, counts.tool)
    return counts.total or sum(part or 0 for part in parts)


def _is_disjoint(counts: Tokens) -> bool:
    """Whether this writer, unlike Gemini CLI itself, took `cached` out of `input`."""
    cached = counts.cached or 0
    parts = (counts.input, counts.cached, counts.output, counts.thoughts, counts.tool)
    whole = sum(part or 0 for part in parts)
    return cached > (counts.input or 0) or (cached > 0 and counts.total == whole)


def patch(session_id: str, name: str, data: bytes) -> Facts:
    """A patch that takes messages out makes room: the sign of a compaction."""
    line, rejects = PATCHED.decode(data)
    yield from rejects
    if line.patch and line.patch.remove_ids:
        yield Compaction(session_id=session_id, compaction_id=f"{session_id}:{name}")


def damaged(data: bytes) -> Facts:
    """A line that is no JSON object: why not."""
    untyped(data)
    yield Reject("no JSON object")
