"""Factory Droid: one JSONL transcript per session, its settings and totals beside it.

Where:   ~/.factory/sessions/<cwd slug>/<session>.jsonl and .settings.json beside it;
         older ones directly below sessions/. FACTORY_DIR and DROID_SESSIONS_DIR, names
         that other tools use, move it.
Seen:    descriptions by other tools only; the program is closed
Trap:    the transcript has no tokens. `tokenUsage` of the settings is a running
         total of the session, dated by the newest message at the time when it is read:
         its own time stamp is that of the session's start. A smaller total began anew.
         `thinkingTokens` is added to the output: all tools do that, nobody knows.
         Settings without a model: a reminder in the transcript names it, for people.
Missing: tokens per message, and what other models than the last one of a session used.
         A total without parts is taken for output, and marked as estimated.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from agentlake.adapters.droid import settings
from agentlake.adapters.droid.format import LINE, Content, Line, Said
from agentlake.adapters.sdk.contract import (
    Chunk,
    Facts,
    Keyed,
    Options,
    Record,
    Reject,
    Stream,
)
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import files_below
from agentlake.adapters.sdk.values import json_text, posix_path, text_of
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.fact import Fact
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult

SOURCE = "droid"
NAME = "Droid"
ICON = "🤖"
STORES = ("lines", "documents")
ROOTS = (
    Root(env="FACTORY_DIR", default=("~/.factory",), strip="sessions"),
    Root(env="DROID_SESSIONS_DIR", default=(), strip="sessions"),
)
PARSER_VERSION = 3

_FILE = re.compile(
    r"(?:[^/]+/)?(?P<name>(?P<session>[^/]+?)\.(?:jsonl|settings\.json))"
)


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
    """The settings, and what the transcript said of them by then.

    Raises OSError, and Unreadable for settings that are half written.
    """
    del cursor, options
    seen = settings.seen(stream.path)
    yield Chunk(records=[Keyed("settings", seen, 0)], cursor=None)


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A line of the transcript, or the settings as they were seen."""
    found = _FILE.fullmatch("/".join(posix_path(record.stream.path).parts[-1:]))
    if found is None:
        return ()
    if record.stream.reader == "own":
        return settings.totals(found["session"], record.data)
    return _line(found["session"], record)


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
    blocks = [Content("text", content)] if isinstance(content, str) else content or []
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


def _kind(said: Said, blocks: list[Content]) -> str:
    """Who speaks for a user: the user, a tool, or Droid with its reminders."""
    if said.role == "assistant":
        return "response"
    if any(block.type == "tool_result" for block in blocks):
        return "tool_result"
    texts = [block.text or "" for block in blocks if block.type == "text"]
    if texts and all(text.lstrip().startswith("<system-reminder>") for text in texts):
        return "meta"
    return "prompt"
