"""A chat and its requests: what was asked, answered, done with tools, and counted."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.decode import untyped
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.vscode_copilot import tools
from agentlake.adapters.vscode_copilot.calls import CHAT, without
from agentlake.adapters.vscode_copilot.format import (
    ABOUT,
    REQUEST,
    Asked,
    Metadata,
    Part,
    Request,
    Result,
    State,
)
from agentlake.models.block import Block
from agentlake.models.fact import Fact
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.usage import Usage

CHATS = 2
"""Precedence of a chat over its transcript."""
_BETWEEN = ("thinking", "toolInvocationSerialized", "textEditGroup")
"""Parts of a response that stand between two texts."""
_EDITS = ("textEditGroup", "codeblockUri")
_FENCES = re.compile(r"\s*(?:`{3,}\s*)*")
"""What is left of the code that an edit shows in its place."""


class At(msgspec.Struct, frozen=True, gc=False):
    """Whose message it is, and when it was."""

    chat: str
    name: str
    sent_at: datetime | None


def session(name: str, data: bytes) -> Facts:
    """A chat: its title, its folder, its beginning."""
    about, rejects = ABOUT.decode(data)
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
    asked, rejects = REQUEST.decode(data)
    at = At(chat, f"{chat}/{name}", moment(asked.timestamp))
    result = asked.result or Result()
    metadata = result.metadata or Metadata()
    model = metadata.resolved_model or _model(asked.model_id)
    yield from _usage(at, asked, metadata, model)
    text = asked.message.text if isinstance(asked.message, Asked) else asked.message
    yield from _said(at, "user", "prompt", [("text", text)])
    answer = At(chat, f"{at.name}/response", at.sent_at)
    parts = asked.response or []
    yield from _said(answer, "assistant", "response", list(_shown(parts)), model)
    for fact in tools.facts(chat, answer.name, parts, metadata):
        yield (
            replace(fact, called_at=at.sent_at) if isinstance(fact, ToolCall) else fact
        )
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
        if not (one.input_tokens or one.cached_tokens or one.output_tokens):
            continue
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
    if not asked.model_totals and (prompt or wrote):
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
        precedence=CHATS,
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


def _shown(parts: list[Part]) -> Iterator[tuple[str, str | None]]:
    """The answer as it was seen: what stands between two calls is one text.

    A reference is shown by the name of what it leads to.
    """
    said: list[str] = []
    has_edits = any(part.kind in _EDITS for part in parts)
    for part in parts:
        if part.kind in (None, "markdownContent", "markdownVuln"):
            text = _text(part.content if part.value is None else part.value) or ""
            if not (has_edits and _FENCES.fullmatch(text)):
                said.append(text)
        elif part.kind == "inlineReference":
            said.append(_referred(part.inline_reference, part.name))
        elif part.kind in _BETWEEN:
            yield "text", _joined(said)
            said = []
            if part.kind == "thinking":
                yield "thinking", _text(part.value)
    yield "text", _joined(said)


def _joined(said: list[str]) -> str | None:
    return "".join(said).strip() or None


def _referred(reference: Any, name: Any) -> str:
    """The name of a file, a folder or a symbol."""
    it = _object(reference)
    place = _object(it.get("location")) or it
    uri = _object(place.get("uri")) or place
    path = str(uri.get("path") or uri.get("fsPath") or uri.get("external") or "")
    found = (name, it.get("name"), re.split(r"[/\\]", path.rstrip("/\\"))[-1])
    return next((one for one in found if isinstance(one, str) and one), "")


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def damaged(data: bytes) -> Facts:
    """A change that is no JSON; what could be read of it was applied."""
    untyped(data)
    yield Reject("no JSON within the rules: read as far as it can be")


def displaced(data: bytes) -> Facts:
    """Changes that were left out."""
    told = untyped(data)
    count = told.get("changes") if isinstance(told, dict) else None
    yield Reject(
        f"changes behind a damaged one were left out, {count} of them: it is not known"
        " to which request they belong"
    )


def _text(value: Any) -> str | None:
    if isinstance(value, dict):
        value = value.get("value")
    if isinstance(value, list):
        value = "\n".join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else None
