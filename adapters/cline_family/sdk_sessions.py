"""The format of Cline's SDK: a manifest per session, messages per agent."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from agentlake.adapters.cline_family.format import (
    ANSWER,
    MANIFEST,
    About,
    Answer,
    Git,
    Metrics,
    ModelInfo,
    Part,
)
from agentlake.adapters.cline_family.tools import has_failed, text_of
from agentlake.adapters.sdk.contract import Keyed, Record, Reject
from agentlake.adapters.sdk.decode import encode, untyped
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.sdk.values import json_text, without_login
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.fact import Fact
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.turn import Turn
from agentlake.models.usage import Usage

_INPUT = re.compile(r"\s*<user_input\b[^>]*>(?P<typed>.*)</user_input>\s*", re.DOTALL)
_NOTICE = re.compile(r"<mode_notice\b[^>]*>.*?</mode_notice>", re.DOTALL)


def explode(session: str, name: str, data: bytes) -> Iterator[Keyed]:
    """The manifest as one record; of the messages each, and its usage apart.

    A message may be taken back; what it cost was paid all the same.
    """
    document = untyped(data)
    if not name.endswith(".messages"):
        yield Keyed(f"manifest|{session}", data, 0)
        return
    stem = name.removesuffix(".messages")
    messages = document.get("messages") if isinstance(document, dict) else document
    for place, one in enumerate(messages if isinstance(messages, list) else ()):
        if isinstance(one, dict):
            key = f"message|{session}/{stem}/{one.get('id', place)}"
            yield Keyed(key, encode(one), place)


def _message(record: Record, name: str) -> Iterable[Fact | Reject]:
    answer, rejects = ANSWER.decode(record.data)
    about = answer.metadata or About()
    if about.display_only:
        return
    session, _, rest = name.partition("/")
    stem = rest.partition("/")[0]
    agent = None if stem == session else stem
    at = moment(answer.ts or answer.timestamp)
    info = answer.model_info or ModelInfo()
    model = info.model_id or info.id or answer.model
    if answer.metrics:
        yield from _usage(
            answer.metrics,
            {
                "session_id": session,
                "agent_id": agent,
                "message_id": name,
                "usage_key": name,
                "scope": f"{session}/{stem}",
                "precedence": 2,
                "model": model,
                "called_at": at,
            },
        )
    is_summary = about.kind == "compaction_summary"
    if is_summary:
        yield Compaction(
            session_id=session, agent_id=agent, compaction_id=name, compacted_at=at
        )
    content = answer.content
    parts = [Part("text", content)] if isinstance(content, str) else content or []
    if answer.role == "user":
        parts = [replace(part, text=_typed(part.text)) for part in parts]
    role, kind = _role(answer, parts, is_summary=is_summary)
    yield Message(
        session_id=session,
        agent_id=agent,
        message_id=name,
        role=role,
        kind=kind,
        model=model,
        sent_at=at,
    )
    for index, part in enumerate(parts):
        yield from _part(name, agent, index, part, at)
    yield from rejects


def _typed(text: str | None) -> str | None:
    """What was typed, without the tags around it and what is said of the mode."""
    if text is None or "<" not in text:
        return text
    found = _INPUT.fullmatch(text)
    return _NOTICE.sub("", found["typed"] if found else text).strip()


def _role(answer: Answer, parts: list[Part], *, is_summary: bool) -> tuple[str, str]:
    if is_summary:
        return "user", "compaction_summary"
    if parts and all(part.type == "tool_result" for part in parts):
        return "tool", "tool_result"
    known = {"user": ("user", "prompt"), "assistant": ("assistant", "response")}
    return known.get(answer.role or "", ("system", "meta"))


def _part(
    name: str, agent: str | None, index: int, part: Part, at: datetime | None
) -> Iterator[Fact]:
    session = name.partition("/")[0]
    known = ("text", "thinking", "tool_use", "tool_result", "image")
    call = part.id if part.type == "tool_use" else part.tool_use_id
    yield Block(
        session_id=session,
        agent_id=agent,
        message_id=name,
        block_index=index,
        type=part.type if part.type in known else "other",
        text=part.thinking if part.type == "thinking" else part.text,
        tool_call_id=call,
    )
    if part.type == "tool_use" and call:
        yield ToolCall(
            session_id=session,
            agent_id=agent,
            message_id=name,
            tool_call_id=call,
            name=part.name,
            input=json_text(part.input),
            called_at=at,
        )
    elif part.type == "tool_result" and call:
        yield ToolResult(
            session_id=session,
            agent_id=agent,
            message_id=name,
            tool_call_id=call,
            text=text_of(part.content),
            is_error=part.is_error or has_failed(part.content),
            finished_at=at,
        )


def _manifest(record: Record, session: str) -> Iterable[Fact | Reject]:
    """The session; its sums count only where no message tells its own."""
    told, rejects = MANIFEST.decode(record.data)
    about = told.metadata or About()
    git = about.git or Git()
    yield Session(
        session_id=session,
        title=_typed(about.title),
        title_source="ai" if about.title else None,
        cwd=told.cwd or told.workspace_root,
        git_branch=git.branch,
        repo_url=without_login(git.url),
        started_at=moment(told.started_at),
    )
    if told.model:
        yield Turn(
            session_id=session,
            kind="context",
            model=told.model,
            began_at=moment(told.started_at),
        )
    if about.usage:
        yield from _usage(
            about.usage,
            {
                "session_id": session,
                "kind": "snapshot",
                "usage_key": f"{session}/manifest",
                "scope": f"{session}/{session}",
                "precedence": 1,
                "model": told.model,
                "called_at": moment(told.ended_at or told.started_at),
                "granularity": "session",
            },
        )
    yield from rejects


def _usage(metrics: Metrics, about: dict[str, Any]) -> Iterator[Fact]:
    cached = (metrics.cache_read_tokens or 0) + (metrics.cache_write_tokens or 0)
    told = metrics.input_tokens
    cost = metrics.cost or metrics.total_cost
    if not (cached or told or metrics.output_tokens or cost):
        return
    yield Usage(
        input_tokens=told - cached if told is not None and told >= cached else told,
        cache_read_tokens=metrics.cache_read_tokens,
        cache_write_tokens=metrics.cache_write_tokens,
        output_tokens=metrics.output_tokens,
        reported_cost_usd=cost or None,
        **about,
    )


PARSE: dict[str, Callable[[Record, str], Iterable[Fact | Reject]]] = {
    "message": _message,
    "manifest": _manifest,
}
"""What makes facts of a record, by what its key begins with."""
