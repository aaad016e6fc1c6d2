"""Factory Droid: one JSONL transcript per session, its settings and totals beside it.

Where:   ~/.factory/sessions/<cwd slug>/<session>.jsonl and .settings.json beside it;
         older ones directly below sessions/. FACTORY_DIR and DROID_SESSIONS_DIR, names
         that other tools use, move it.
Seen:    descriptions by other tools only; the program is closed
Trap:    the transcript has no tokens. `tokenUsage` of the settings is a running
         total of the session, dated by the newest message at the time when it is read:
         its own time stamp is that of the session's start. A smaller total began anew.
         `thinkingTokens` is added to the output: all tools do that, nobody knows.
Missing: tokens per message, and what other models than the last one of a session used.
         A total without parts is taken for output, and marked as estimated.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from agentlake.adapters.sdk.contract import (
    Chunk,
    Keyed,
    Options,
    Record,
    Reject,
    Stream,
)
from agentlake.adapters.sdk.decode import Decoder, encode, untyped
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import files_below
from agentlake.adapters.sdk.values import json_text, text_of
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.fact import Count, Fact
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.usage import Usage

Facts: TypeAlias = Iterator[Fact | Reject]

SOURCE = "droid"
ROOTS = (
    Root(env="FACTORY_DIR", default=("~/.factory",), strip="sessions"),
    Root(env="DROID_SESSIONS_DIR", default=(), strip="sessions"),
)
PARSER_VERSION = 2

_FILE = re.compile(
    r"(?:[^/]+/)?(?P<name>(?P<session>[^/]+?)\.(?:jsonl|settings\.json))"
)
_TAIL = 1 << 20
"""Bytes at the end of a transcript among which its newest message is looked for."""


class Content_(msgspec.Struct, frozen=True, gc=False):
    """One block of a content, in the shape of Anthropic's API."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None


class Said(msgspec.Struct, frozen=True, gc=False):
    """What a message says."""

    role: str | None = None
    content: str | list[Content_] | None = None


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line of a transcript."""

    type: str | None = None
    id: str | None = None
    timestamp: datetime | None = None
    parent_id: str | None = msgspec.field(default=None, name="parentId")
    title: str | None = None
    cwd: str | None = None
    message: Said | None = None


class Tokens(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A running total; its parts share no token."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_creation_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    thinking_tokens: Count | None = None
    total_tokens: Count | None = None


class Settings(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What is set for a session, and what it has used."""

    model: str | None = None
    provider_lock: str | None = None
    provider_lock_timestamp: datetime | None = None
    token_usage: Tokens | None = None


class Seen(msgspec.Struct, frozen=True, gc=False):
    """Settings, and the newest message when they were read."""

    settings: Settings | None = None
    newest_message_at: datetime | None = None


LINE, SEEN = Decoder(Line), Decoder(Seen)


def discover(root: str, options: Options) -> Iterator[Stream]:
    """Transcripts and settings by session; of one that lies in two folders, both."""
    del options
    top, keys = Path(root, "sessions"), set[str]()
    for path in files_below(str(top)):
        found = _FILE.fullmatch(Path(path).relative_to(top).as_posix())
        if found is None:
            continue
        key = found["name"] if found["name"] not in keys else f"{found['name']}@{path}"
        keys.add(key)
        if path.endswith(".jsonl"):
            yield Stream(path=path, key=key)
        else:
            yield Stream(path=path, key=key, reader="own")


def read(stream: Stream, cursor: Any, options: Options) -> Iterator[Chunk]:
    """The settings, and the time of the newest message that is there by now.

    Raises OSError, and Unreadable for settings that are half written.
    """
    del cursor, options
    data = Path(stream.path).read_bytes()
    seen = {
        "settings": untyped(data),
        "newest_message_at": _newest(Path(_transcript(stream.path))),
    }
    yield Chunk(records=[Keyed("settings", encode(seen), 0)], cursor=None)


def _transcript(settings: str) -> str:
    return settings.removesuffix(".settings.json") + ".jsonl"


def _newest(transcript: Path) -> datetime | None:
    if not transcript.is_file():
        return None
    with transcript.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _TAIL))
        lines = file.read().split(b"\n")
    times = (_sent_at(line) for line in reversed(lines))
    return next((time for time in times if time is not None), None)


def _sent_at(line: bytes) -> datetime | None:
    try:
        found = msgspec.json.decode(line, type=Line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return found.timestamp if found.type == "message" else None


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A line of the transcript, or the settings as they were seen."""
    found = _FILE.fullmatch("/".join(Path(record.stream.path).parts[-1:]))
    if found is None:
        return ()
    if record.stream.reader == "own":
        return _totals(found["session"], record.data)
    return _line(found["session"], record)


def _totals(session_id: str, data: bytes) -> Facts:
    seen, rejects = SEEN.decode(data)
    settings = seen.settings or Settings()
    if tokens := settings.token_usage:
        parts = (
            tokens.input_tokens,
            tokens.output_tokens,
            tokens.cache_creation_tokens,
            tokens.cache_read_tokens,
            tokens.thinking_tokens,
        )
        is_whole = any(parts)
        output = tokens.output_tokens if is_whole else tokens.total_tokens
        if is_whole and tokens.thinking_tokens:
            output = (output or 0) + tokens.thinking_tokens
        if is_whole or output:
            yield Usage(
                session_id=session_id,
                kind="snapshot",
                usage_key=session_id,
                resets=True,
                granularity="session",
                model=_model(settings),
                called_at=seen.newest_message_at or settings.provider_lock_timestamp,
                input_tokens=tokens.input_tokens,
                cache_read_tokens=tokens.cache_read_tokens,
                cache_write_tokens=tokens.cache_creation_tokens,
                output_tokens=output,
                reasoning_tokens=tokens.thinking_tokens,
                is_estimated=None if is_whole else True,
            )
    yield from rejects


def _model(settings: Settings) -> str | None:
    """`custom:Claude-Sonnet-4.5-[Anthropic]-0` is claude-sonnet-4.5."""
    name = re.sub(
        r"\[.*?\](-\d+)?$", "", (settings.model or "").removeprefix("custom:")
    )
    name = re.sub(r"\[.*?\]", "", name).rstrip("-").lower()
    if not name and settings.provider_lock:
        return f"{settings.provider_lock}-unknown"
    return name or None


def _line(session_id: str, record: Record) -> Facts:
    line, rejects = LINE.decode(record.data)
    match line.type:
        case "session_start":
            yield Session(
                session_id=session_id,
                title=line.title or None,
                title_source="ai" if line.title else None,
                cwd=line.cwd,
            )
        case "message":
            yield from _message(session_id, line, f"{session_id}:{record.key}")
        case "compaction_state":
            yield Compaction(
                session_id=session_id,
                compaction_id=line.id or f"{session_id}:{record.key}",
                compacted_at=line.timestamp,
            )
        case _:  # todo_state, and what is younger than this adapter
            return
    yield from rejects


def _message(session_id: str, line: Line, name: str) -> Facts:
    said = line.message or Said()
    content = said.content
    blocks = [Content_("text", content)] if isinstance(content, str) else content or []
    message_id = line.id or name
    yield Message(
        session_id=session_id,
        message_id=message_id,
        record_id=line.id,
        parent_record_id=line.parent_id,
        role="assistant" if said.role == "assistant" else "user",
        kind=_kind(said, blocks),
        sent_at=line.timestamp,
    )
    for index, block in enumerate(blocks):
        yield Block(
            session_id=session_id,
            message_id=message_id,
            block_index=index,
            type=_TYPES.get(block.type or "", "other"),
            text=block.text if block.thinking is None else block.thinking,
            tool_call_id=block.id or block.tool_use_id,
        )
        if block.type == "tool_use" and block.id:
            yield ToolCall(
                session_id=session_id,
                message_id=message_id,
                tool_call_id=block.id,
                name=block.name,
                input=json_text(block.input),
                called_at=line.timestamp,
            )
        elif block.type == "tool_result" and block.tool_use_id:
            yield ToolResult(
                session_id=session_id,
                message_id=message_id,
                tool_call_id=block.tool_use_id,
                text=text_of(block.content),
                is_error=block.is_error,
                finished_at=line.timestamp,
            )


_TYPES = {
    name: name for name in ("text", "thinking", "tool_use", "tool_result", "image")
}


def _kind(said: Said, blocks: list[Content_]) -> str:
    """Who speaks for a user: the user, a tool, or Droid with its reminders."""
    if said.role == "assistant":
        return "response"
    if any(block.type == "tool_result" for block in blocks):
        return "tool_result"
    texts = [block.text or "" for block in blocks if block.type == "text"]
    if texts and all(text.lstrip().startswith("<system-reminder>") for text in texts):
        return "meta"
    return "prompt"
