"""From a row or a line of Goose to facts."""

import re
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import msgspec

from agentlake.adapters.goose.format import (
    BLOCK_TYPES,
    CATEGORIES,
    CONFIG,
    PARTS,
    SEEN,
    Config,
    Head,
    Ledger,
    Line,
    MessageRow,
    Outcome,
    Part,
    Seen,
)
from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.moments import from_epoch
from agentlake.adapters.sdk.values import json_text, named
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.usage import Usage

_COUNTED = re.compile(r"\d{8}_\d{1,5}")
"""An id that counts up within its day. Any other is the name of an imported file."""

_ROW = "row "
"""How the key of a message begins that has no id."""


def identity(session_id: str | None, created_at: str | None) -> str:
    """The session's id; one that may be given again has its time of creation behind.

    A file and the session that was imported from it have one identity.
    """
    known = session_id or ""
    if created_at and _COUNTED.fullmatch(known):
        return f"{known}@{created_at}"
    return known


def session(session_id: str, head: Head) -> Facts:
    """Who the session is, and its totals, which no ledger may say better."""
    if not session_id:
        yield Reject("session without id")
        return
    config, rejects = CONFIG.within(head.model_config_json, Config())
    yield from rejects
    if head.accumulated_input_tokens or head.accumulated_output_tokens:
        yield Usage(
            session_id=session_id,
            kind="snapshot",
            usage_key=session_id,
            scope=session_id,
            precedence=1,
            granularity="session",
            provider=named(head.provider_name),
            model=named(config.model_name),
            called_at=head.updated_at or _moment(head.created_at),
            input_tokens=_without_cache(
                head.accumulated_input_tokens,
                head.accumulated_cache_read_tokens,
                head.accumulated_cache_write_tokens,
            ),
            cache_read_tokens=head.accumulated_cache_read_tokens,
            cache_write_tokens=head.accumulated_cache_write_tokens,
            output_tokens=head.accumulated_output_tokens,
            reported_cost_usd=head.accumulated_cost,
        )
    is_agent = head.session_type == "sub_agent"
    yield Session(
        session_id=session_id,
        parent_session_id=identity(head.parent_session_id, head.parent_created_at)
        or None,
        relation="subagent" if is_agent else None,
        title=named(head.name, head.description),
        title_source="custom" if head.user_set_name and named(head.name) else "ai",
        cwd=named(head.working_dir),
        provider=named(head.provider_name),
        category=CATEGORIES.get(head.session_type or ""),
        job=head.schedule_id,
        started_at=_moment(head.created_at),
    )


def call(row: Ledger) -> Facts:
    """One call to a model; what a compaction asked for is one too.

    One older than the session of its id was made by a deleted session of that id.
    """
    at = from_epoch(row.created_timestamp)
    born = _moment(row.session_created_at)
    is_older = at is not None and born is not None and at < born
    session_id = identity(row.session_id, None if is_older else row.session_created_at)
    if row.id is None or not session_id:
        yield Reject("usage_ledger: row without id or session")
        return
    config, rejects = CONFIG.within(row.model_config_json, Config())
    yield from rejects
    yield Usage(
        session_id=session_id,
        usage_key=f"{session_id}/{row.id}",
        scope=session_id,
        precedence=2,
        provider=named(row.provider_name),
        model=named(row.model, config.model_name),
        called_at=at,
        input_tokens=_without_cache(
            row.input_tokens, row.cache_read_tokens, row.cache_write_tokens
        ),
        cache_read_tokens=row.cache_read_tokens,
        cache_write_tokens=row.cache_write_tokens,
        output_tokens=row.output_tokens,
        reported_cost_usd=row.cost,
    )
    if row.is_compaction:
        yield Compaction(
            session_id=session_id,
            compaction_id=f"{session_id}/{row.id}",
            compacted_at=at,
        )


def _without_cache(
    prompt: int | None, read: int | None, written: int | None
) -> int | None:
    return None if prompt is None else max(0, prompt - (read or 0) - (written or 0))


def message_row(row: MessageRow) -> Facts:
    """A message of the database; what is wrong in its JSON costs only that part."""
    session_id = identity(row.session_id, row.session_created_at)
    if not session_id:
        yield Reject("message without session")
        return
    seen, rejects = SEEN.within(row.metadata_json, Seen())
    yield from rejects
    parts, rejects = PARTS.within(row.content_json, [])
    own_id = row.message_id if session_id != row.session_id else None
    if own_id and own_id.startswith(_ROW):
        own_id = None
    at = from_epoch(row.created_timestamp)
    yield from _message(session_id, own_id, row.role or "", at, parts, seen=seen)
    yield from rejects


def message_line(session_id: str, line: Line) -> Facts:
    """A message of a file."""
    at = from_epoch(line.created)
    return _message(session_id, None, line.role or "", at, line.content, seen=Seen())


def _message(
    session_id: str,
    own_id: str | None,
    role: str,
    at: datetime | None,
    parts: list[Part],
    *,
    seen: Seen,
) -> Facts:
    """A message, its blocks, and what they ask of a tool or have from one.

    In a session that came from a file a message is named by what it says, so that
    the file and what was imported from it name it alike.
    """
    message_id = own_id or f"{session_id}:{_digest(role, at, parts)}"
    types = [BLOCK_TYPES.get(part.type or "", "other") for part in parts]
    kind = "response" if role == "assistant" else "prompt"
    if types and set(types) == {"tool_result"}:
        role, kind = "tool", "tool_result"
    elif not seen.user_visible:
        kind = "meta"
    known = role if role in ("user", "assistant", "tool") else "system"
    yield Message(
        session_id=session_id,
        message_id=message_id,
        role=known,
        kind=kind if known != "system" else "meta",
        sent_at=at,
    )
    for index, (part, type_) in enumerate(zip(parts, types, strict=True)):
        is_tool = type_ in ("tool_use", "tool_result")
        yield Block(
            session_id=session_id,
            message_id=message_id,
            block_index=index,
            type=type_,
            text=part.thinking if type_ == "thinking" else part.text or part.msg,
            tool_call_id=part.id if is_tool else None,
        )
        if is_tool and not part.id:
            yield Reject(f"`{part.type}` does not name its call")
        elif type_ == "tool_use":
            asked = _fields(part.call)
            name = asked.get("name")
            yield ToolCall(
                session_id=session_id,
                message_id=message_id,
                tool_call_id=part.id or "",
                name=name if isinstance(name, str) else None,
                input=json_text(asked.get("arguments")),
                called_at=at,
            )
        elif type_ == "tool_result":
            yield _result(session_id, message_id, part, at)


def _result(
    session_id: str, message_id: str, part: Part, at: datetime | None
) -> ToolResult:
    outcome = part.result or Outcome()
    failed = outcome.status == "error" or _fields(outcome).get("isError") is True
    return ToolResult(
        session_id=session_id,
        message_id=message_id,
        tool_call_id=part.id or "",
        text=outcome.error if outcome.status == "error" else _text(outcome.value),
        is_error=failed if outcome.status else None,
        finished_at=at,
    )


def _fields(outcome: Outcome | None) -> dict[str, Any]:
    value = outcome.value if outcome else None
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    """The texts of an answer: a list of contents, or an object that holds one."""
    items = value.get("content") if isinstance(value, dict) else value
    if not isinstance(items, list):
        return json_text(value)
    texts = [item.get("text") for item in items if isinstance(item, dict)]
    return "\n".join(text for text in texts if isinstance(text, str)) or None


def _digest(role: str, at: datetime | None, parts: list[Part]) -> str:
    said = [(part.type, part.id, part.text or part.thinking) for part in parts]
    return sha256(msgspec.json.encode((role, at, said))).hexdigest()[:12]


def _moment(text: str | None) -> datetime | None:
    """A time of SQLite, `2026-10-01 09:00:00` in UTC; of another form it is unknown."""
    try:
        at = msgspec.convert(text, datetime) if text else None
    except msgspec.ValidationError:
        return None
    return at if at is None or at.tzinfo else at.replace(tzinfo=UTC)
