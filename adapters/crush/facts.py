"""From rows of Crush to facts."""

from agentlake.adapters.crush.format import (
    BLOCK_TYPES,
    PARTS,
    Data,
    MessageRow,
    SessionRow,
)
from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.moments import from_epoch
from agentlake.adapters.sdk.values import json_text, raw_json
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.link import Link
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.usage import Usage

_KINDS = {"user": "prompt", "assistant": "response", "tool": "tool_result"}
_TITLE = "title-"
"""How the id of a session begins that only made the title of another one."""
_OF_CALL = "$$"
"""What stands in a subagent's id between the message and the call that began it."""


def session(row: SessionRow, cwd: str | None) -> Facts:
    """What it has cost without its children, and whose child it is."""
    if not row.id:
        yield Reject("session without id")
        return
    cost = max(0.0, (row.cost or 0.0) - row.cost_of_children)
    if cost:
        yield Usage(
            session_id=row.id,
            kind="snapshot",
            usage_key=row.id,
            granularity="session",
            called_at=from_epoch(row.updated_at),
            unit="usd",
            amount=cost,
            reported_cost_usd=cost,
        )
    yield Session(
        session_id=row.id,
        parent_session_id=row.parent_session_id,
        relation="subagent" if row.parent_session_id else None,
        title=row.title or None,
        title_source="ai",
        cwd=cwd,
        category="system" if row.id.startswith(_TITLE) else None,
        started_at=from_epoch(row.created_at),
    )
    call = row.id.partition(_OF_CALL)[2]
    if row.parent_session_id and call:
        yield Link(
            session_id=row.id,
            parent_session_id=row.parent_session_id,
            relation="subagent",
            tool_call_id=call,
            linked_at=from_epoch(row.created_at),
        )


def message(row: MessageRow) -> Facts:
    """A message and its parts; one that sums up all before it is a compaction."""
    if not row.id or not row.session_id:
        yield Reject("message without id or session_id")
        return
    at = from_epoch(row.created_at)
    role = row.role if row.role in _KINDS else "system"
    kind = _KINDS.get(role or "", "meta")
    if row.is_summary_message:
        kind = "compaction_summary"
        yield Compaction(
            session_id=row.session_id, compaction_id=row.id, compacted_at=at
        )
    parts, rejects = PARTS.within(row.parts, [])
    if role == "user" and {part.type for part in parts} == {"shell_command"}:
        kind = "command"
    yield Message(
        session_id=row.session_id,
        message_id=row.id,
        role=role or "system",
        kind=kind,
        model=row.model or None,
        sent_at=at,
    )
    index = 0
    for part in parts:
        type_ = BLOCK_TYPES.get(part.type or "")
        if type_ is None:
            continue
        data, is_call, is_result = (
            part.data,
            type_ == "tool_use",
            type_ == "tool_result",
        )
        call = data.id if is_call else data.tool_call_id if is_result else None
        yield Block(
            session_id=row.session_id,
            message_id=row.id,
            block_index=index,
            type=type_,
            text=None if is_call or is_result else _text(data),
            tool_call_id=call,
        )
        index += 1
        if (is_call or is_result) and not call:
            yield Reject(f"`{part.type}` does not name its call")
        elif is_call:
            yield ToolCall(
                session_id=row.session_id,
                message_id=row.id,
                tool_call_id=call or "",
                name=data.name,
                input=raw_json(data.input),
                called_at=at,
            )
        elif is_result:
            content = data.content
            yield ToolResult(
                session_id=row.session_id,
                message_id=row.id,
                tool_call_id=call or "",
                text=content if isinstance(content, str) else json_text(content),
                is_error=data.is_error,
                finished_at=at,
            )
    yield from rejects


def _text(data: Data) -> str | None:
    said = data.text or data.thinking
    if data.command is not None:
        said = "\n".join(filter(None, ("$ " + data.command, data.output)))
    return said
