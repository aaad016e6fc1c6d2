"""Mistral Vibe: a folder per session with its messages and its totals so far.

Where:   ~/.vibe/logs/session/<prefix>_<date>_<time>_<short id>/ with messages.jsonl and
         meta.json; subagents in agents/ below it. VIBE_HOME overrides ~/.vibe; name the
         folder of another `save_dir` in the settings.
Seen:    the program of 2026-07-01; the single files of Vibe 1.x are not read
Trap:    the totals are those of the process: a resume begins at 0 and overwrites them,
         a compaction or a rewind carries them over into a new folder, a fork does not;
         the kept messages are written again. So a smaller total began anew, and the
         first one of a session goes on from its origin's if it holds it. A message has
         no session id: a session is known by the short id of its folder.
Missing: times and usage of messages; usage that a resume overwrote between two loads.
         `session_cost` knows no discount for what was cached.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from agentlake.adapters.sdk.contract import (
    Facts,
    Health,
    Keyed,
    Options,
    Record,
    Reject,
    Stream,
)
from agentlake.adapters.sdk.decode import Decoder, Unreadable, untyped
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import files_below
from agentlake.adapters.sdk.settings import said_in
from agentlake.adapters.sdk.values import json_text
from agentlake.models.block import Block
from agentlake.models.fact import Count, Fact, Usd
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.usage import Usage

SOURCE = "mistral_vibe"
NAME = "Mistral Vibe"
ICON = "🍃"
STORES = ("lines", "documents")
ROOTS = (Root(env="VIBE_HOME", default=("~/.vibe",)),)
PARSER_VERSION = 2

_FILE = re.compile(
    r""".*/logs/session/
    (?:.*? (?P<parent>[^/]+)/agents/)?
    (?P<folder>[^/]+)/(?P<name>meta\.json|messages\.jsonl)""",
    re.VERBOSE | re.DOTALL,
)
_SHORT = re.compile(r".*_\d{8}_\d{6}_(.+)", re.DOTALL)


class Function(msgspec.Struct, frozen=True, gc=False):
    """What the model asked a tool to do; the arguments are JSON text."""

    name: str | None = None
    arguments: Any = None


class Call(msgspec.Struct, frozen=True, gc=False):
    """A call of a tool."""

    id: str | None = None
    function: Function | None = None


class Part(msgspec.Struct, frozen=True, gc=False):
    """A part of a content."""

    type: str | None = None
    text: str | None = None


class Line(msgspec.Struct, frozen=True, gc=False):
    """One message."""

    role: str | None = None
    content: str | list[Part] | None = None
    message_id: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[Call] | None = None
    tool_call_id: str | None = None
    injected: bool | None = None


class Environment(msgspec.Struct, frozen=True, gc=False):
    """Where a session works."""

    working_directory: str | None = None


class Config(msgspec.Struct, frozen=True, gc=False):
    """What is set for it."""

    active_model: str | None = None


class Stats(msgspec.Struct, frozen=True, gc=False):
    """What its process has used so far; the prompt includes what was cached."""

    steps: Count | None = None
    session_prompt_tokens: Count | None = None
    session_completion_tokens: Count | None = None
    session_cached_tokens: Count | None = None
    session_cost: Usd | None = None


class Meta(msgspec.Struct, frozen=True, gc=False):
    """A session as it is now."""

    session_id: str | None = None
    parent_session_id: str | None = None
    start_time: datetime | None = None
    end_time: datetime | None = None
    git_branch: str | None = None
    git_commit: str | None = None
    environment: Environment | None = None
    title: str | None = None
    config: Config | None = None
    stats: Stats | None = None


LINE, META = Decoder(Line), Decoder(Meta)


class StreamPath(NamedTuple):
    """What a path says: the session, and for a subagent the one that holds it."""

    name: str
    session_id: str
    parent_id: str | None


def _stream_path(path: str) -> StreamPath | None:
    found = _FILE.fullmatch(path.replace("\\", "/"))
    if found is None:
        return None
    parent = found["parent"]
    return StreamPath(found["name"], _short(found["folder"]), parent and _short(parent))


def _short(folder: str) -> str:
    found = _SHORT.fullmatch(folder)
    return found[1] if found else folder


def discover(root: str, options: Options) -> Iterator[Stream]:
    """Messages and totals by session; meta.json.tmp is what a crash left behind."""
    del options
    keys = set[str]()
    for path in files_below(str(Path(root, "logs", "session"))):
        if (place := _stream_path(path)) is None:
            continue
        key = f"{place.session_id}/{place.name}"
        if key in keys:
            key = f"{key}@{path}"
        keys.add(key)
        if place.name == "meta.json":
            yield Stream(path=path, key=key, reader="json_document")
        else:
            yield Stream(path=path, key=key)


def explode(stream: Stream, data: bytes) -> Iterable[Keyed]:
    """All of it is one record; what it once counted stays."""
    del stream
    untyped(data)
    return [Keyed("meta", data, 0)]


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A message, or the state of its session."""
    if (place := _stream_path(record.stream.path)) is None:
        return ()
    if place.name == "meta.json":
        return _meta(place, record.data)
    return _message(place.session_id, record)


def _meta(place: StreamPath, data: bytes) -> Facts:
    meta, rejects = META.decode(data)
    origin = _origin(place.session_id, meta)
    relation = "continuation" if origin else None
    yield Session(
        session_id=place.session_id,
        parent_session_id=place.parent_id or origin,
        relation="subagent" if place.parent_id else relation,
        title=meta.title or None,
        title_source="index" if meta.title else None,
        cwd=meta.environment.working_directory if meta.environment else None,
        git_branch=meta.git_branch,
        git_commit=meta.git_commit,
        started_at=meta.start_time,
    )
    stats = meta.stats or Stats()
    prompt, cached = stats.session_prompt_tokens, stats.session_cached_tokens
    if prompt or stats.session_completion_tokens:
        yield Usage(
            session_id=place.session_id,
            kind="snapshot",
            usage_key=place.session_id,
            resets=True,
            forked_from_session_id=None if place.parent_id else origin,
            granularity="session",
            model=meta.config.active_model if meta.config else None,
            called_at=meta.end_time or meta.start_time,
            ordinal=stats.steps,
            input_tokens=None if prompt is None else max(0, prompt - (cached or 0)),
            cache_read_tokens=cached,
            output_tokens=stats.session_completion_tokens,
            reported_cost_usd=stats.session_cost or None,
        )
    yield from rejects


def _origin(session_id: str, meta: Meta) -> str | None:
    """The session that this one was made from, by its short id too."""
    origin, own = meta.parent_session_id or None, meta.session_id or ""
    is_cut = own != session_id and own.startswith(session_id)
    return origin[: len(session_id)] if origin and is_cut else origin


def _message(session_id: str, record: Record) -> Facts:
    line, rejects = LINE.decode(record.data)
    yield from rejects
    if line.role is None:
        if not rejects:
            yield Reject("a message without role")
        return
    message_id = line.message_id or f"{session_id}:{record.key}"
    role, kind = _KINDS.get(line.role, ("system", "meta"))
    yield Message(
        session_id=session_id,
        message_id=message_id,
        role=role,
        kind="meta" if line.injected else kind,
    )
    for index, (type_, text, call_id) in enumerate(_blocks(line)):
        yield Block(
            session_id=session_id,
            message_id=message_id,
            block_index=index,
            type=type_,
            text=text,
            tool_call_id=call_id,
        )
    for call in line.tool_calls or ():
        called = call.function or Function()
        if not call.id:
            yield Reject("a tool call without id")
            continue
        yield ToolCall(
            session_id=session_id,
            message_id=message_id,
            tool_call_id=call.id,
            name=called.name,
            input=_arguments(called.arguments),
        )
    if line.role == "tool" and line.tool_call_id:
        yield ToolResult(
            session_id=session_id,
            message_id=message_id,
            tool_call_id=line.tool_call_id,
            text="\n".join(text for text in _texts(line) if text),
        )


_KINDS = {
    "user": ("user", "prompt"),
    "assistant": ("assistant", "response"),
    "tool": ("tool", "tool_result"),
}


def _texts(line: Line) -> list[str | None]:
    if isinstance(line.content, str):
        return [line.content] if line.content else []
    return [part.text for part in line.content or ()]


def _blocks(line: Line) -> Iterator[tuple[str, str | None, str | None]]:
    if line.reasoning_content:
        yield "thinking", line.reasoning_content, None
    if line.role == "tool":
        yield "tool_result", None, line.tool_call_id
        return
    for text in _texts(line):
        yield ("other" if text is None else "text"), text, None
    for call in line.tool_calls or ():
        yield "tool_use", None, call.id


def _arguments(said: Any) -> str | None:
    """As JSON text; they are such a text unless the model wrote something else."""
    if isinstance(said, str):
        try:
            untyped(said.encode())
        except Unreadable:
            return json_text(said)
        return said
    return json_text(said)


def health(root: str) -> Health:
    """Whether sessions are written at all: session_logging.enabled."""
    config = Path(root, "config.toml")
    if said_in(config, "session_logging", "enabled") is not False:
        return Health()
    return Health(
        warnings=(
            "session_logging.enabled in config.toml is false: new sessions are not"
            " written",
        )
    )
