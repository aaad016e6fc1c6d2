"""From a thread of Zed to facts."""

from typing import Any

from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.values import json_text
from agentlake.adapters.zed.format import (
    Entry,
    Model,
    Part,
    Row,
    Segment,
    Subagent,
    Thread,
    Tokens,
    ToolUse,
)
from agentlake.adapters.zed.format import ToolResult as Answer
from agentlake.models.block import Block
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.turn import Turn
from agentlake.models.usage import Usage

_SEGMENTS = {"text": "text", "thinking": "thinking"}


def usage(row: Row, thread: Thread) -> Facts:
    """The thread's total, or, where it is not kept up, the sum of what is known."""
    if thread.imported or not row.id:
        return
    requests = thread.request_token_usage or []
    known = requests.values() if isinstance(requests, dict) else requests
    summed = sum((tokens for tokens in known if tokens), Tokens())
    total = thread.cumulative_token_usage or Tokens()
    is_whole = total.total >= summed.total
    tokens = total if is_whole else summed
    if tokens.total:
        model = thread.model or Model()
        yield Usage(
            session_id=row.id,
            kind="snapshot",
            usage_key=row.id,
            granularity="session",
            provider=model.provider,
            model=model.model,
            called_at=row.updated_at,
            input_tokens=tokens.input_tokens,
            cache_read_tokens=tokens.cache_read_input_tokens,
            cache_write_tokens=tokens.cache_creation_input_tokens,
            output_tokens=tokens.output_tokens,
            is_estimated=None if is_whole else True,
        )


def session(row: Row, thread: Thread) -> Facts:
    """Who the thread is, and when it was begun and last changed."""
    session_id = row.id or ""
    parent = row.parent_id or (thread.subagent_context or Subagent()).parent_thread_id
    yield Session(
        session_id=session_id,
        parent_session_id=parent,
        relation="subagent" if parent else None,
        title=thread.title or row.summary or None,
        title_source="ai",
        cwd=(row.folder_paths or "").partition("\n")[0] or None,
        provider=thread.model.provider if thread.model else None,
        started_at=row.created_at,
    )
    for kind, at in (("started", row.created_at), ("ended", row.updated_at)):
        if at:
            yield Turn(session_id=session_id, kind=kind, began_at=at)


def messages(session_id: str, thread: Thread) -> Facts:
    """The messages in order; an answer is named after the prompt before it."""
    prompt, answers = session_id, 0
    for index, entry in enumerate(thread.messages):
        if isinstance(entry, str):
            continue
        if user := entry.user:
            prompt, answers = user.id or f"{session_id}:{index}", 0
            yield from _message(session_id, prompt, "user", "prompt")
            yield from _content(session_id, prompt, user.content)
        elif agent := entry.agent:
            answers += 1
            name = f"{prompt}/{answers}"
            yield from _message(session_id, name, "assistant", "response")
            yield from _content(session_id, name, agent.content)
            for call, answer in agent.tool_results.items():
                yield _result(session_id, name, answer.tool_use_id or call, answer)
        elif entry.role:
            yield from _old_message(session_id, entry, index)
        else:
            yield Reject(f"message {index} is of no kind that is known")


def _message(session_id: str, message_id: str, role: str, kind: str) -> Facts:
    yield Message(session_id=session_id, message_id=message_id, role=role, kind=kind)


def _old_message(session_id: str, entry: Entry, index: int) -> Facts:
    """A message of the first generation, whose id only counts within its thread."""
    message_id = f"{session_id}:{index if entry.id is None else entry.id}"
    role = entry.role if entry.role in ("user", "assistant") else "system"
    kind = {"user": "prompt", "assistant": "response"}.get(role or "", "meta")
    if entry.tool_results and not entry.segments:
        role, kind = "tool", "tool_result"
    yield from _message(session_id, message_id, role or "system", kind)
    pieces: list[Part | Segment] = [*entry.segments]
    pieces += [Part(tool_use=call) for call in entry.tool_uses]
    yield from _content(session_id, message_id, pieces)
    for answer in entry.tool_results:
        if answer.tool_use_id:
            yield _result(session_id, message_id, answer.tool_use_id, answer)


def _content(
    session_id: str, message_id: str, pieces: list[Part] | list[Part | Segment]
) -> Facts:
    for index, piece in enumerate(pieces):
        call: ToolUse | None = None
        if isinstance(piece, Segment):
            kind, text = _SEGMENTS.get(piece.type or "", "other"), piece.text
        else:
            kind, text, call = _piece(piece)
        yield Block(
            session_id=session_id,
            message_id=message_id,
            block_index=index,
            type=kind,
            text=text,
            tool_call_id=call.id if call else None,
        )
        if call and call.id:
            yield ToolCall(
                session_id=session_id,
                message_id=message_id,
                tool_call_id=call.id,
                name=call.name,
                input=json_text(call.input),
            )
        elif call:
            yield Reject("call of a tool without id")


def _piece(part: Part) -> tuple[str, str | None, ToolUse | None]:
    if part.text is not None:
        return "text", part.text, None
    if part.thinking:
        return "thinking", part.thinking.text, None
    if part.redacted_thinking is not None:
        return "thinking", None, None
    if part.tool_use:
        return "tool_use", None, part.tool_use
    if part.mention:
        return "attachment", part.mention.content, None
    return "image" if part.image is not None else "other", None, None


def _result(session_id: str, message_id: str, call: str, answer: Answer) -> ToolResult:
    text = _text(answer.content)
    return ToolResult(
        session_id=session_id,
        message_id=message_id,
        tool_call_id=call,
        text=_text(answer.output) if text is None else text,
        is_error=answer.is_error,
    )


def _text(content: Any) -> str | None:
    """The texts of an answer, one below the other: bare, in an object, in a list."""
    match content:
        case None:
            return None
        case str():
            return content
        case {"Text": str(text)} | {"text": str(text)}:
            return text
        case list():
            texts = [one for item in content if (one := _text(item)) is not None]
            return "\n".join(texts) if texts else None
        case {"Image": _} | {"image": _}:
            return None
        case _:
            return json_text(content)
