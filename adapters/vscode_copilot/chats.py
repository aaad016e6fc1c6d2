"""A chat and its requests: what was asked, answered, done with tools, and counted."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, TypeAlias

import msgspec

from agentlake.adapters.sdk.contract import Reject
from agentlake.adapters.sdk.decode import Decoder
from agentlake.adapters.sdk.values import json_text, moment, raw_json
from agentlake.adapters.vscode_copilot.calls import CHAT, without
from agentlake.models.block import Block
from agentlake.models.fact import Count, Fact
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.usage import Usage

Facts: TypeAlias = Iterator[Fact | Reject]
Time: TypeAlias = int | float | str | None

_SUFFIX = re.compile(r"__vscode-\d+$")


class State(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A chat without its requests."""

    creation_date: Time = None
    custom_title: str | None = None


class About(msgspec.Struct, frozen=True, gc=False):
    """A chat, and the folder that its window had open."""

    folder: str | None = None
    state: State | None = None


class Call(msgspec.Struct, frozen=True, gc=False):
    """A call of a tool; the arguments are JSON within a text."""

    id: str | None = None
    name: str | None = None
    arguments: Any = None


class Round(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One reply within a request."""

    tool_calls: list[Call] | None = None


class Metadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What Copilot itself knows of a request."""

    resolved_model: str | None = None
    prompt_tokens: Count | None = None
    output_tokens: Count | None = None
    tool_call_rounds: list[Round] | None = None
    tool_call_results: dict[str, Any] | None = None


class Failure(msgspec.Struct, frozen=True, gc=False):
    """Why a request failed."""

    message: str | None = None


class Result(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """How a request ended."""

    metadata: Metadata | None = None
    error_details: Failure | None = None


class Totals(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """All that a request used of one model, in all its calls."""

    model: str | None = None
    input_tokens: Count | None = None
    cached_tokens: Count | None = None
    output_tokens: Count | None = None


class Asked(msgspec.Struct, frozen=True, gc=False):
    """What the user wrote."""

    text: str | None = None


class Part(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A piece of a response; without a kind it is text."""

    kind: str | None = None
    value: Any = None
    tool_id: str | None = None
    tool_call_id: str | None = None
    is_complete: bool | None = None


class Request(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A request with its response."""

    timestamp: Time = None
    message: Asked | str | None = None
    model_id: str | None = None
    response: list[Part] | None = None
    result: Result | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    model_totals: list[Totals] | None = None


class At(msgspec.Struct, frozen=True, gc=False):
    """Whose message it is, and when it was."""

    chat: str
    name: str
    sent_at: datetime | None


_ABOUT = Decoder(About)
_REQUEST = Decoder(Request)


def session(name: str, data: bytes) -> Facts:
    """A chat: its title, its folder, its beginning."""
    about, rejects = _ABOUT.decode(data)
    state = about.state or State()
    title = state.custom_title or None
    yield Session(
        session_id=name,
        title=title,
        title_source="custom" if title else None,
        cwd=about.folder,
        started_at=moment(state.creation_date),
    )
    yield from rejects


def request(chat: str, name: str, data: bytes) -> Facts:
    """A request: two messages, tools, and what it cost."""
    asked, rejects = _REQUEST.decode(data)
    at = At(chat, f"{chat}/{name}", moment(asked.timestamp))
    result = asked.result or Result()
    metadata = result.metadata or Metadata()
    model = metadata.resolved_model or _model(asked.model_id)
    yield from _usage(at, asked, metadata, model)
    text = asked.message.text if isinstance(asked.message, Asked) else asked.message
    yield from _said(at, "user", "prompt", [("text", text)])
    answer = At(chat, f"{at.name}/response", at.sent_at)
    parts = asked.response or []
    yield from _said(
        answer,
        "assistant",
        "response",
        [
            ("thinking" if part.kind == "thinking" else "text", _text(part.value))
            for part in parts
            if part.kind in (None, "thinking", "markdownContent")
        ],
        model,
    )
    yield from _tools(answer, parts, metadata)
    if result.error_details and (why := result.error_details.message):
        of = At(chat, f"{at.name}/error", at.sent_at)
        yield from _said(of, "system", "error", [("text", why)])
    yield from rejects


def _model(name: str | None) -> str | None:
    """The model without the name of who offers it; `auto` is none."""
    model = (name or "").removeprefix("copilot/")
    return None if model in ("", "auto") else model


def _usage(
    at: At, asked: Request, metadata: Metadata, model: str | None
) -> Iterator[Fact]:
    """The totals of all its calls; else the last prompt, which is less than that."""
    call = Usage(
        session_id=at.chat,
        message_id=f"{at.name}/response",
        usage_key=at.name,
        scope=at.chat,
        precedence=CHAT,
        model=model,
        called_at=at.sent_at,
        granularity="turn",
    )
    for place, one in enumerate(asked.model_totals or ()):
        yield msgspec.structs.replace(
            call,
            usage_key=f"{at.name}/{place}" if place else at.name,
            model=_model(one.model) or model,
            input_tokens=without(one.input_tokens, one.cached_tokens),
            cache_read_tokens=one.cached_tokens,
            output_tokens=one.output_tokens,
        )
    prompt, wrote = asked.prompt_tokens, asked.completion_tokens
    prompt = metadata.prompt_tokens if prompt is None else prompt
    wrote = metadata.output_tokens if wrote is None else wrote
    if not asked.model_totals and (prompt is not None or wrote is not None):
        yield msgspec.structs.replace(
            call, input_tokens=prompt, output_tokens=wrote, is_estimated=True
        )


def _said(
    at: At,
    role: str,
    kind: str,
    texts: list[tuple[str, str | None]],
    model: str | None = None,
) -> Iterator[Fact]:
    yield Message(
        session_id=at.chat,
        message_id=at.name,
        role=role,
        kind=kind,
        model=model,
        sent_at=at.sent_at,
    )
    for index, (of, text) in enumerate(texts):
        if text:
            yield Block(
                session_id=at.chat,
                message_id=at.name,
                block_index=index,
                type=of,
                text=text,
            )


def _text(value: Any) -> str | None:
    if isinstance(value, dict):
        value = value.get("value")
    if isinstance(value, list):
        value = "\n".join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else None


def _tools(at: At, parts: list[Part], metadata: Metadata) -> Iterator[Fact]:
    """Calls as Copilot keeps them; one that only the response shows, by that."""
    rounds = metadata.tool_call_rounds or []
    asked = {
        _SUFFIX.sub("", call.id): call
        for one in rounds
        for call in one.tool_calls or ()
        if call.id
    }
    done = set()
    for part in parts:
        if part.kind == "toolInvocationSerialized" and part.tool_call_id:
            name = _SUFFIX.sub("", part.tool_call_id)
            asked.setdefault(name, Call(name, part.tool_id))
            if part.is_complete:
                done.add(name)
    answers = {
        _SUFFIX.sub("", name): answer
        for name, answer in (metadata.tool_call_results or {}).items()
    }
    for name, call in asked.items():
        yield ToolCall(
            session_id=at.chat,
            message_id=at.name,
            tool_call_id=name,
            name=call.name,
            input=raw_json(call.arguments),
            called_at=at.sent_at,
        )
    for name in sorted(asked.keys() & (answers.keys() | done)):
        yield ToolResult(
            session_id=at.chat,
            message_id=at.name,
            tool_call_id=name,
            text=_output(answers.get(name)),
        )


def _output(answer: Any) -> str | None:
    """The texts of an answer's content, if they are plain; else all of it as JSON."""
    content = answer.get("content") if isinstance(answer, dict) else answer
    if isinstance(content, list):
        texts = [one.get("value") for one in content if isinstance(one, dict)]
        if texts and all(isinstance(text, str) for text in texts):
            return "\n".join(map(str, texts))
    return content if isinstance(content, str) else json_text(answer)
