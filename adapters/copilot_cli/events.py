"""From an event of a session's log to facts."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

import msgspec

from agentlake.adapters.copilot_cli.format import Context, Data, Tokens
from agentlake.adapters.sdk.contract import Reject
from agentlake.adapters.sdk.values import json_text
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.fact import Fact
from agentlake.models.link import Link
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.turn import Turn
from agentlake.models.usage import Usage

Facts: TypeAlias = Iterator[Fact | Reject]

AI_UNITS_SINCE = datetime(2026, 6, 1, tzinfo=UTC)
"""From then on a billed AI unit, 1e9 of what the files count, is a US cent."""
_NANO_AIU_PER_USD = 1e11


class At(msgspec.Struct, frozen=True, gc=False):
    """Whose event it is, and when it was."""

    session: str
    agent: str | None
    event: str
    at: datetime | None

    def name(self, own: str | None) -> str:
        """A message's id: those of the events may be unique in their session only."""
        return f"{self.session}:{own or self.event}"


def scope(session: str, model: str | None) -> str:
    """What several places tell of: a session's use of a model, in any spelling."""
    return f"{session}/{(model or '').lower().replace('.', '-')}"


def usd(nano_aiu: int | None, at: datetime | None) -> float | None:
    """What AI units cost; None before they were billed."""
    if nano_aiu is None or at is None:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return nano_aiu / _NANO_AIU_PER_USD if at >= AI_UNITS_SINCE else None


class Disjoint(NamedTuple):
    """Counts in the one token convention, in the order of their columns."""

    input: int | None
    cache_read: int | None
    cache_write: int | None
    output: int | None
    reasoning: int | None


def disjoint(tokens: Tokens) -> Disjoint:
    """The prompt without what the cache read and wrote.

    A prompt smaller than that cannot include it, and is left as it is.
    """
    cached = (tokens.cache_read_tokens or 0) + (tokens.cache_write_tokens or 0)
    fresh = tokens.input_tokens
    if fresh is not None and fresh >= cached:
        fresh -= cached
    return Disjoint(
        fresh,
        tokens.cache_read_tokens,
        tokens.cache_write_tokens,
        tokens.output_tokens,
        tokens.reasoning_tokens,
    )


def started(at: At, data: Data) -> Facts:
    """A run begins: the first of the session, or one that goes on with it."""
    context = data.context or Context()
    version = data.copilot_version
    if version is None and isinstance(data.version, str):
        version = data.version
    yield Turn(
        session_id=at.session, kind="run", model=data.selected_model, began_at=at.at
    )
    yield Session(
        session_id=at.session,
        cwd=context.cwd,
        git_branch=context.branch,
        git_commit=context.head_commit,
        repo_url=context.repository,
        client_version=version,
        started_at=data.start_time or at.at,
    )


def moved(at: At, data: Data) -> Facts:
    """The session works somewhere else from here on."""
    context = data.context or Context(data.cwd, None, data.branch)
    yield Session(session_id=at.session, cwd=context.cwd, git_branch=context.branch)


def model_changed(at: At, data: Data) -> Facts:
    """Another model answers from here on."""
    if data.new_model:
        yield Turn(
            session_id=at.session, kind="context", model=data.new_model, began_at=at.at
        )


def title(at: At, data: Data) -> Facts:
    """A title that a model made."""
    if data.title:
        yield Session(session_id=at.session, title=data.title, title_source="ai")


def error(at: At, data: Data) -> Facts:
    """An error that the user saw."""
    yield from _texts(at, at.name(None), "system", "error", text=data.message)


def system(at: At, data: Data) -> Facts:
    """The instructions that the program gives."""
    yield from _texts(at, at.name(None), "system", "meta", text=_text(data.content))


def prompt(at: At, data: Data) -> Facts:
    """What the user typed; with a source, what a skill or the program put in."""
    typed = data.source in (None, "", "user")
    yield from _texts(
        at,
        at.name(None),
        "user",
        "prompt" if typed else "meta",
        text=_text(data.content),
        label=None if typed else data.source,
    )


def reply(at: At, data: Data) -> Facts:
    """A reply, or a piece of one: all pieces of one call are one message."""
    name = at.name(data.api_call_id or data.message_id)
    if data.output_tokens is not None:
        yield Usage(
            session_id=at.session,
            agent_id=at.agent,
            message_id=name,
            record_id=at.event,
            kind="reply_output",
            usage_key=name,
            scope=scope(at.session, data.model),
            model=data.model,
            called_at=at.at,
            output_tokens=data.output_tokens,
            is_estimated=True,
        )
    yield from _texts(
        at,
        name,
        "assistant",
        "response",
        model=data.model,
        thinking=data.reasoning_text,
        text=_text(data.content),
    )
    for place, asked in enumerate(data.tool_requests or ()):
        if not asked.tool_call_id:
            yield Reject(f"toolRequests[{place}] without toolCallId")
            continue
        yield Block(
            session_id=at.session,
            agent_id=at.agent,
            message_id=name,
            block_index=place + 2,
            type="tool_use",
            tool_call_id=asked.tool_call_id,
        )
        server = asked.mcp_server_name
        yield ToolCall(
            session_id=at.session,
            agent_id=at.agent,
            message_id=name,
            tool_call_id=asked.tool_call_id,
            name=f"{server}.{asked.name}" if server and asked.name else asked.name,
            input=json_text(asked.arguments),
            called_at=at.at,
        )


def reasoning(at: At, data: Data) -> Facts:
    """Reasoning apart from its reply, as older versions write it."""
    said = _text(data.content) or data.reasoning_text
    yield from _texts(at, at.name(None), "assistant", "thinking", thinking=said)


def _texts(
    at: At,
    name: str,
    role: str,
    kind: str,
    *,
    text: str | None = None,
    thinking: str | None = None,
    model: str | None = None,
    label: str | None = None,
) -> Facts:
    yield Message(
        session_id=at.session,
        agent_id=at.agent,
        message_id=name,
        role=role,
        kind=kind,
        model=model,
        sent_at=at.at,
        label=label,
    )
    for place, (of, said) in enumerate((("thinking", thinking), ("text", text))):
        if said:
            yield Block(
                session_id=at.session,
                agent_id=at.agent,
                message_id=name,
                block_index=place,
                type=of,
                text=said,
            )


def call(at: At, data: Data) -> Facts:
    """A tool begins; its reply has asked for it before, if that was written."""
    if not data.tool_call_id:
        yield Reject("tool.execution_start without toolCallId")
        return
    yield ToolCall(
        session_id=at.session,
        agent_id=at.agent,
        message_id=at.name(data.tool_call_id),
        tool_call_id=data.tool_call_id,
        name=data.tool_name,
        input=json_text(data.arguments),
        called_at=at.at,
    )


def result(at: At, data: Data) -> Facts:
    """What a tool answered, or why it could not."""
    if not data.tool_call_id:
        yield Reject("tool.execution_complete without toolCallId")
        return
    said = _text(data.result)
    if said is None:
        said = _text(data.error)
    yield ToolResult(
        session_id=at.session,
        agent_id=at.agent,
        tool_call_id=data.tool_call_id,
        text=said,
        is_error=None if data.success is None else not data.success,
        finished_at=at.at,
    )


def _text(said: Any) -> str | None:
    """A text, or the one in an object; anything else as JSON."""
    if isinstance(said, dict):
        for name in ("content", "detailedContent", "message"):
            if isinstance(said.get(name), str):
                return str(said[name])
    return said if isinstance(said, str) else json_text(said)


def subagent(at: At, data: Data) -> Facts:
    """A subagent begins; its events carry its id."""
    agent = at.agent or data.tool_call_id
    if not agent:
        yield Reject("subagent.started names neither agent nor call")
        return
    if data.agent_name:
        yield Session(session_id=at.session, agent_id=agent, agent_type=data.agent_name)
    yield Link(
        session_id=at.session,
        agent_id=agent,
        parent_session_id=at.session,
        relation="subagent",
        tool_call_id=data.tool_call_id,
        linked_at=at.at,
    )


def compaction(at: At, data: Data) -> Facts:
    """A context was replaced by its summary; one that failed changed nothing."""
    if data.success is not False:
        yield Compaction(
            session_id=at.session,
            agent_id=at.agent,
            compaction_id=at.event,
            trigger=data.trigger,
            compacted_at=at.at,
            tokens_before=data.pre_compaction_tokens,
            tokens_after=data.post_compaction_tokens,
        )


def shutdown(at: At, data: Data) -> Facts:
    """The end of a run, with what each model did until then."""
    for model, metrics in (data.model_metrics or {}).items():
        if metrics is None or metrics.usage is None:
            continue
        tokens = disjoint(metrics.usage)
        yield Usage(
            session_id=at.session,
            record_id=at.event,
            kind="run_segment",
            scope=scope(at.session, model),
            model=model,
            called_at=at.at,
            input_tokens=tokens.input,
            cache_read_tokens=tokens.cache_read,
            cache_write_tokens=tokens.cache_write,
            output_tokens=tokens.output,
            reasoning_tokens=tokens.reasoning,
            reported_cost_usd=usd(metrics.total_nano_aiu, at.at),
            granularity="session",
            amount=metrics.requests.count if metrics.requests else None,
        )
