"""From a row to facts: one function for each kind of fact."""

from typing import TypeVar

import msgspec
from msgspec.structs import replace

from agentlake.adapters.claude_code import rules
from agentlake.adapters.claude_code.format import (
    Body,
    CompactMetadata,
    Part,
    Row,
    Tokens,
    ToolUseResult,
)
from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.drift import unknown
from agentlake.adapters.sdk.values import verbatim
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.link import Link
from agentlake.models.message import Message
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.usage import Usage

_UNSTRUCTURED = ToolUseResult()


class At(msgspec.Struct, frozen=True, gc=False):
    """Whose record it is, and what names it when it has no id of its own."""

    session_id: str
    agent_id: str | None
    key: str


# A call with more than 15 keywords takes Python several times as long, and these two
# are made of nearly every row: what is rare in a Message or Usage is put in later.


def message(row: Row, at: At, message_id: str, role: str, kind: str) -> Message:
    """The message that a row shows; its text is in the blocks."""
    made = Message(
        session_id=at.session_id,
        agent_id=at.agent_id,
        message_id=message_id,
        record_id=row.uuid,
        parent_record_id=row.parent_uuid or row.logical_parent_uuid,
        role=role,
        kind=kind,
        model=row.message.model if row.message else None,
        sent_at=row.timestamp,
        is_sidechain=row.is_sidechain,
        cwd=row.cwd,
        git_branch=row.git_branch,
        client_version=row.version,
        entrypoint=row.entrypoint,
    )
    if row.team_name or row.attribution_agent:
        made = replace(made, team=row.team_name, agent_type=row.attribution_agent)
    return _copied(made, row) if row.request_session_id or row.forked_from else made


def usage(row: Row, at: At, tokens: Tokens, model: str | None) -> Usage:
    """What a request cost, as its row says."""
    body = row.message or Body()
    details, server = tokens.output_tokens_details, tokens.server_tool_use
    written, hour = rules.cache_writes(tokens)
    made = Usage(
        session_id=at.session_id,
        agent_id=at.agent_id,
        message_id=body.id or None,
        request_id=row.request_id,
        record_id=row.uuid,
        model=model,
        called_at=row.timestamp,
        input_tokens=tokens.input_tokens,
        cache_read_tokens=tokens.cache_read_input_tokens,
        cache_write_tokens=written,
        cache_write_1h_tokens=hour,
        output_tokens=tokens.output_tokens,
        web_search_requests=server.web_search_requests if server else None,
        service_tier="fast" if tokens.speed == "fast" else tokens.service_tier,
        has_hourly_windows=True,
        is_final=body.stop_reason is not None,
    )
    if provider := rules.provider(body.id):
        made = replace(made, provider=provider)
    if tokens.inference_geo not in rules.NOWHERE:
        made = replace(made, region=tokens.inference_geo)
    if details:
        made = replace(made, reasoning_tokens=details.thinking_tokens)
    return _copied(made, row) if row.request_session_id or row.forked_from else made


MessageOrUsage = TypeVar("MessageOrUsage", Message, Usage)


def _copied(made: MessageOrUsage, row: Row) -> MessageOrUsage:
    return replace(
        made,
        request_session_id=row.request_session_id,
        forked_from_session_id=row.forked_from.session_id if row.forked_from else None,
    )


def content(row: Row, at: At, message_id: str, parts: list[Part]) -> Facts:
    """Each part as a block, and what it asks of a tool or has from one."""
    extras = row.tool_use_result
    for index, part in enumerate(parts):
        kind = rules.block_type(part)
        call = part.id if kind == "tool_use" else part.tool_use_id
        yield Block(
            session_id=at.session_id,
            agent_id=at.agent_id,
            message_id=message_id,
            block_index=index,
            type=kind,
            text=part.thinking if kind == "thinking" else part.text,
            tool_call_id=call,
        )
        if kind == "other":
            yield from unknown("block", part.type, rules.OTHER_BLOCKS)
        if kind == "tool_use" and call:
            yield ToolCall(
                session_id=at.session_id,
                agent_id=at.agent_id,
                message_id=message_id,
                tool_call_id=call,
                name=part.name,
                input=verbatim(part.input),
                agent_type=rules.agent_type(part),
                called_at=row.timestamp,
            )
        elif kind == "tool_result" and call:
            text = rules.text_of(part.content)
            if isinstance(extras, ToolUseResult):
                agent = extras.agent_id
            else:
                agent = rules.spawned_agent(text)
                extras = _UNSTRUCTURED
            yield _result(row, at, part, extras, message_id=message_id, text=text)
            if agent:
                yield subagent(row, at, agent, call)
            extras = None  # the structured result belongs to the first one
        elif kind in {"tool_use", "tool_result"}:
            yield Reject(f"`{part.type}` does not name its call")


def _result(
    row: Row,
    at: At,
    part: Part,
    extras: ToolUseResult,
    *,
    message_id: str,
    text: str | None,
) -> ToolResult:
    took = extras.duration_ms
    if took is None:
        took = extras.total_duration_ms
    return ToolResult(
        session_id=at.session_id,
        agent_id=at.agent_id,
        message_id=message_id,
        tool_call_id=part.tool_use_id or "",
        text=text,
        ref=extras.persisted_output_path or rules.persisted_path(text),
        is_error=part.is_error,
        finished_at=row.timestamp,
        duration_ms=None if took is None else int(took),
        search_count=extras.search_count,
        spawned_agent_id=extras.agent_id,
    )


def remark(row: Row, at: At, kind: str, text: str) -> Facts:
    """A message of the program itself, with its text if it has one."""
    message_id = row.uuid or at.key
    yield message(row, at, message_id, "system", kind)
    if text:
        yield Block(
            session_id=at.session_id,
            agent_id=at.agent_id,
            message_id=message_id,
            block_index=0,
            type="attachment" if row.attachment else "text",
            text=text,
        )


def compaction(
    row: Row,
    at: At,
    meta: CompactMetadata | None,
    trigger: str | None,
    *,
    is_summary: bool | None = None,
) -> Compaction:
    """A compaction, with its sizes if the row has them."""
    return Compaction(
        session_id=at.session_id,
        agent_id=at.agent_id,
        compaction_id=row.uuid or at.key,
        trigger=trigger,
        is_summary=is_summary,
        compacted_at=row.timestamp,
        tokens_before=meta.pre_tokens if meta else None,
        tokens_after=meta.post_tokens if meta else None,
    )


def link(
    row: Row, session_id: str, parent: str, relation: str, agent_id: str | None = None
) -> Link:
    """What a session, or an agent of it, came from."""
    return Link(
        session_id=session_id,
        agent_id=agent_id,
        parent_session_id=parent,
        relation=relation,
        linked_at=row.timestamp,
    )


def subagent(row: Row, at: At, agent_id: str, call: str | None) -> Link:
    """An agent of this session, with the call that spawned it."""
    return Link(
        session_id=at.session_id,
        agent_id=agent_id,
        parent_session_id=at.session_id,
        relation="subagent",
        tool_call_id=call,
        linked_at=row.timestamp,
    )
