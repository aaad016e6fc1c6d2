"""From rows of Warp to facts: conversations, what they cost, commands that ran."""

import re
from datetime import datetime

from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.warp.format import (
    ASKED,
    CONVERSATION,
    INPUTS,
    SUMMARY,
    Asked,
    BlockRow,
    Conversation,
    ConversationRow,
    QueryRow,
    Spent,
    Summary,
)
from agentlake.models.block import Block
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_result import ToolResult
from agentlake.models.usage import Usage

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")


def conversation(row: ConversationRow) -> Facts:
    """Whose child or fork it is, its title, and its totals so far."""
    session_id = row.conversation_id
    if not session_id:
        yield Reject("agent_conversations: row without conversation_id")
        return
    known, rejects = CONVERSATION.within(row.conversation_data, Conversation())
    yield from _spent(session_id, known.conversation_usage_metadata, row)
    yield from rejects
    summary, rejects = SUMMARY.within(row.summary, Summary())
    yield from rejects
    parent, relation = known.parent_conversation_id, None
    if parent or known.parent_agent_id:
        relation = "subagent"
    elif known.forked_from_server_conversation_token:
        relation = "fork"
    yield Session(
        session_id=session_id,
        parent_session_id=parent or None,
        relation=relation,
        agent_type=known.agent_name,
        title=summary.title or summary.initial_query or None,
        title_source="ai" if summary.title else "summary",
        cwd=row.first_directory or summary.initial_working_directory or None,
    )


def _spent(session_id: str, spent: Spent, row: ConversationRow) -> Facts:
    for used in spent.token_usage:
        own = used.total_tokens if used.warp_tokens is None else used.warp_tokens
        total = sum(
            count or 0 for count in (own, used.byok_tokens, used.custom_endpoint_tokens)
        )
        if total:
            yield Usage(
                session_id=session_id,
                kind="snapshot",
                usage_key=f"{session_id}/{used.model_id or ''}",
                granularity="session",
                model=used.model_id or None,
                called_at=row.last_modified_at,
                unit="unsplit_tokens",
                amount=total,
            )
    cents = spent.total_provider_cost_in_cents
    if spent.credits_spent or cents is not None:
        yield Usage(
            session_id=session_id,
            kind="snapshot",
            usage_key=f"{session_id}/credits",
            granularity="session",
            called_at=row.last_modified_at,
            unit="credits",
            amount=spent.credits_spent,
            reported_cost_usd=None if cents is None else cents / 100,
        )


def query(row: QueryRow) -> Facts:
    """What was typed, if there is no task that tells it."""
    if not row.conversation_id or not row.exchange_id:
        yield Reject("ai_queries: row without conversation_id or exchange_id")
        return
    if row.has_tasks:
        return
    session_id = row.conversation_id
    inputs, rejects = INPUTS.within(row.input, [])
    texts = [it.query.text for it in inputs if it.query and it.query.text]
    if texts:
        yield Message(
            session_id=session_id,
            message_id=row.exchange_id,
            role="user",
            kind="prompt",
            sent_at=row.start_ts,
            cwd=row.working_directory or None,
        )
    for index, text in enumerate(texts):
        yield Block(
            session_id=session_id,
            message_id=row.exchange_id,
            block_index=index,
            type="text",
            text=text,
        )
    yield from rejects


def command(row: BlockRow) -> Facts:
    """What a command printed that an agent had asked for."""
    asked, rejects = ASKED.within(row.ai_metadata, Asked())
    yield from rejects
    call = asked.requested_command_action_id or asked.action_id
    if not call or not asked.conversation_id:
        return
    printed = row.stylized_output
    text = printed.bytes().decode("utf-8", "replace") if printed else None
    has_ended = row.completed_ts is not None
    yield ToolResult(
        session_id=asked.conversation_id,
        tool_call_id=call,
        text=None if text is None else _ESCAPES.sub("", text),
        is_error=row.exit_code != 0
        if has_ended and row.exit_code is not None
        else None,
        finished_at=row.completed_ts,
        duration_ms=_milliseconds(row.start_ts, row.completed_ts),
    )


def _milliseconds(start: datetime | None, end: datetime | None) -> int | None:
    if start is None or end is None:
        return None
    return max(0, round((end - start).total_seconds() * 1000))
