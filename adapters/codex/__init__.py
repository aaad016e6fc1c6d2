"""Codex (CLI, desktop, IDE extension): one rollout per thread, one event per line.

Where:   ~/.codex/sessions/YYYY/MM/DD/rollout-<local time>-<thread id>.jsonl, the same
         in archived_sessions/, either of them as .jsonl.zst once it is a week old;
         session_index.jsonl has the titles, state_<n>.sqlite has them too and who
         began whom (CODEX_SQLITE_HOME moves it). CODEX_HOME overrides ~/.codex.
Seen:    codex 0.36 - 0.152 in real files; what came later (token_usage_record) and
         before (bare lines, the .json of the TypeScript CLI) in descriptions only.
Trap:    archive and compression move the file: the thread id is its only identity.
         A fork begins with its parent's lines, re-stamped, counters included; one
         counter is written again and again; the model is said once per turn. One
         line cannot know any of that, so nothing is undone here but in `core`.
         Texts stand twice, as response_item and as event_msg; the items are taken.
Missing: no tokens before 0.36; none of a compaction's own call before 0.153.
         history.jsonl repeats prompts and is only kept. Of the databases, made from
         the rollouts, only what those may lack is taken, and no count of tokens.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from agentlake.adapters.codex import state, talk, threads
from agentlake.adapters.codex.format import BARE, DOCUMENT, IGNORED, LINE, Payload
from agentlake.adapters.codex.rules import THREAD
from agentlake.adapters.codex.where import Where
from agentlake.adapters.sdk.contract import (
    Facts,
    Health,
    Options,
    Reader,
    Record,
    Reject,
    Stream,
    Table,
)
from agentlake.adapters.sdk.drift import unknown
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import files_below, matching
from agentlake.adapters.sdk.settings import said_in
from agentlake.models.fact import Fact

SOURCE = "codex"
NAME = "Codex"
ICON = "🌀"
STORES = ("lines", "documents", "databases")
ROOTS = (
    Root(env="CODEX_HOME", default=("~/.codex",), strip="sessions"),
    Root(env="CODEX_SQLITE_HOME", default=()),
)
PARSER_VERSION = 2

_ROLLOUT = re.compile(r"(rollout-.+)\.(jsonl|jsonl\.zst|json)")
_UUID = 36
"""Characters of a thread id, which ends the name of a rollout."""

LINES: dict[str, Callable[[Where, Payload], Facts]] = {
    "session_meta": threads.session,
    "turn_context": threads.turn,
    "token_usage_record": threads.usage_record,
    "compacted": talk.compacted,
}
MAKE = LINES | {
    # response items
    "message": talk.message,
    "agent_message": talk.between_agents,
    "reasoning": talk.reasoning,
    "function_call": talk.call,
    "custom_tool_call": talk.call,
    **dict.fromkeys(talk.TOOLS, talk.call),
    "function_call_output": talk.result,
    "custom_tool_call_output": talk.result,
    "tool_search_output": talk.result,
    # events
    **dict.fromkeys(threads.TURNS, threads.turn),
    "thread_settings_applied": threads.settings,
    "thread_name_updated": threads.title,
    "token_count": threads.usage_counter,
    "exec_command_end": talk.ended,
    "mcp_tool_call_end": talk.ended,
    "patch_apply_end": talk.ended,
    "web_search_end": talk.ended,
    "collab_agent_spawn_end": threads.spawned,
    "sub_agent_activity": threads.spawned,
    "error": talk.error,
}
"""What makes facts of each kind. Lines, items and events share no name but
`agent_message`, which an item writes with `content` and an event with `message`."""


def discover(root: str, options: Options) -> Iterator[Stream]:
    """Rollouts by thread, and by path the two lists and the database beside them.

    Of a thread that is there twice, live and archived, the first has its id as key.
    """
    del options
    streams: dict[str, Stream] = {}
    for folder in ("sessions", "archived_sessions"):
        for path, thread, reader in _rollouts(str(Path(root, folder))):
            key = thread
            if key in streams and folder == "archived_sessions":
                key = f"{thread}@archived"
            if key in streams:
                key = f"{thread}@{path}"
            streams[key] = Stream(path=path, key=key, reader=reader)
    for name in ("history.jsonl", "session_index.jsonl"):
        for path in matching(root, name):
            streams[name] = Stream(path=path, key=path)
    if database := state.newest(root):
        streams[database] = Stream(path=database, key=database, reader="sqlite")
    yield from sorted(streams.values(), key=lambda stream: stream.path)


def tables(stream: Stream) -> Sequence[Table]:
    """What the database says of threads beside their rollouts."""
    del stream
    return state.TABLES


def _rollouts(top: str) -> Iterator[tuple[str, str, Reader]]:
    """Path, thread and reader; of a plain and a compressed one only the plain one.

    The thread is the UUID at the end of the name, or the name if it has none.
    """
    plain = ""
    for path in files_below(top):
        folder, _, name = path.rpartition(os.sep)
        found = _ROLLOUT.fullmatch(name)
        if found is None:
            continue
        stem, kind = found.groups()
        thread = stem[-_UUID:] if THREAD.fullmatch(stem, len(stem) - _UUID) else stem
        if kind == "jsonl":
            plain = path
            yield path, thread, "jsonl"
        elif kind == "jsonl.zst":
            if path != f"{plain}.zst":  # sorted: the plain one comes right before
                yield path, thread, "jsonl"
        elif Path(folder) == Path(top):  # the oldest, never below a date
            yield path, thread, "document"


def parse(record: Record) -> Iterable[Fact | Reject]:
    """One line is one payload; in the first generation the line is the payload."""
    stream, data = record.stream, record.data
    if stream.reader == "sqlite":
        return state.facts(record)
    thread = stream.key.partition("@")[0]
    if stream.key == stream.path:
        if not stream.path.endswith("session_index.jsonl"):
            return ()
        entry, rejects = BARE.decode(data)
        return chain(threads.title(Where(thread), entry), rejects)
    if stream.reader == "document":
        return _of_document(data, thread)
    line, rejects = LINE.decode(data)
    where = Where(thread, record.key, line.timestamp, line.ordinal)
    kind, payload = line.type, line.payload
    if kind in ("response_item", "event_msg"):
        kind = payload.type if payload else None
    elif payload is None and kind not in LINES:
        payload, rejects = BARE.decode(data)
        where = Where(thread, record.key)
        kind = payload.type or ("session_meta" if payload.id else None)
    make = MAKE.get(kind or "")
    if payload is None:
        return rejects
    if make is None:  # an odd field of what is passed over is no loss
        of = line.type or "line"
        return unknown("line" if of == kind else of, kind, IGNORED)
    facts = make(where, payload)
    return chain(facts, rejects) if rejects else facts


def _of_document(data: bytes, thread: str) -> Facts:
    document, rejects = DOCUMENT.decode(data)
    if document.session:
        yield from threads.session(Where(thread), document.session)
    for index, item in enumerate(document.items):
        if make := MAKE.get(item.type or ""):
            yield from make(Where(thread, str(index)), item)
        else:
            yield from unknown("item", item.type, IGNORED)
    yield from rejects


def health(root: str) -> Health:
    """What config.toml says of the lists beside the rollouts, which nothing deletes."""
    config = Path(root, "config.toml")
    notes = []
    if said_in(config, "history", "persistence") == "none":
        notes.append(
            "history.persistence in config.toml is none: prompts are in the rollouts"
            " only"
        )
    if said_in(config, "sqlite_home"):
        notes.append(
            "sqlite_home in config.toml moves the database with titles: set"
            " CODEX_SQLITE_HOME to that folder, or name it in the settings"
        )
    return Health(notes=tuple(notes))
