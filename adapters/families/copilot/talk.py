"""What is said in a session, and what is done with tools."""

from datetime import datetime
from typing import Any

import msgspec

from agentlake.adapters.families.copilot.format import Data
from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.injected import Injected
from agentlake.adapters.sdk.values import json_text, raw_json
from agentlake.models.block import Block
from agentlake.models.link import Link
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.turn import Turn


class At(msgspec.Struct, frozen=True, gc=False):
    """Whose event it is, and when it was."""

    session: str
    agent: str | None
    event: str
    at: datetime | None
    precedence: int | None = None
    """Of its messages, where another store may report the session too."""

    def name(self, own: str | None) -> str:
        """A message's id: those of the events may be unique in their session only."""
        return f"{self.session}:{own or self.event}"


def error(at: At, data: Data) -> Facts:
    """An error that the user saw."""
    yield from _texts(at, at.name(None), "system", "error", text=data.message)


def system(at: At, data: Data) -> Facts:
    """The instructions that the program gives."""
    yield from _texts(at, at.name(None), "system", "meta", text=_text(data.content))


_INJECTED = Injected(
    "skill-context", "system_reminder", "system_notification", "current_datetime"
)


def prompt(at: At, data: Data) -> Facts:
    """What the user typed; with a source, what a skill or the program put in."""
    said, label = _text(data.content), data.source
    text = said
    if said and label in (None, "", "user"):
        text, tag = _INJECTED.without(said)
        label = tag and ("skill" if tag.startswith("skill") else "system")
    typed = label in (None, "", "user")
    yield from _texts(
        at,
        at.name(None),
        "user",
        "prompt" if typed else "meta",
        text=text if typed else said,
        label=None if typed else label,
    )


def reply(at: At, data: Data) -> Facts:
    """A reply, or a piece of one: all pieces of one call are one message."""
    if is_nothing(data):
        return
    name = at.name(data.api_call_id or data.message_id)
    text, asked = _text(data.content), data.tool_requests or ()
    yield from _texts(
        at,
        name,
        "assistant",
        "response",
        model=data.model,
        thinking=data.reasoning_text,
        text=text,
    )
    for place, one in enumerate(asked):
        if not one.tool_call_id:
            yield Reject(f"toolRequests[{place}] without toolCallId")
            continue
        yield Block(
            session_id=at.session,
            agent_id=at.agent,
            message_id=name,
            block_index=place + 2,
            type="tool_use",
            tool_call_id=one.tool_call_id,
        )
        server = one.mcp_server_name
        yield ToolCall(
            session_id=at.session,
            agent_id=at.agent,
            message_id=name,
            tool_call_id=one.tool_call_id,
            name=f"{server}.{one.name}" if server and one.name else one.name,
            input=raw_json(one.arguments),
            called_at=at.at,
        )


def is_nothing(data: Data) -> bool:
    """Whether a piece of a reply neither says nor counts anything."""
    said = data.content or data.reasoning_text or data.tool_requests
    return not (said or data.output_tokens)


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
        precedence=at.precedence,
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
        input=raw_json(data.arguments),
        called_at=at.at,
    )


def result(at: At, data: Data) -> Facts:
    """What a tool answered, or why it could not."""
    if not data.tool_call_id:
        yield Reject("tool.execution_complete without toolCallId")
        return
    if data.model and not at.agent:
        # the model that asked for this call; its reply need not say so itself
        yield Turn(
            session_id=at.session,
            turn_id=data.tool_call_id,
            kind="context",
            model=data.model,
            began_at=at.at,
        )
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
