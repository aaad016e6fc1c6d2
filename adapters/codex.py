"""Codex (CLI, desktop, IDE extension): one rollout per thread, one event per line.

Where:   ~/.codex/sessions/YYYY/MM/DD/rollout-<local time>-<thread id>.jsonl, the same
         in archived_sessions/, either of them as .jsonl.zst once it is a week old;
         session_index.jsonl has the titles. CODEX_HOME overrides ~/.codex.
Seen:    codex 0.36 - 0.152 in real files; what came later (token_usage_record) and
         before (bare lines, the .json of the TypeScript CLI) in descriptions only.
Trap:    archive and compression move the file: the thread id is its only identity.
         A fork begins with its parent's lines, re-stamped, counters included; one
         counter is written again and again; the model is said once per turn. One
         line cannot know any of that, so nothing is undone here but in `core`.
         Texts stand twice, as response_item and as event_msg; the items are taken.
Missing: no tokens before 0.36; none of a compaction's own call before 0.153.
         history.jsonl repeats prompts and is only kept.
"""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import msgspec

from agentlake.adapters import codex_format as written
from agentlake.adapters.codex_format import Part, Payload
from agentlake.adapters.sdk.contract import Options, Reader, Record, Reject, Stream
from agentlake.adapters.sdk.scan import files_below
from agentlake.adapters.sdk.values import json_text
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.fact import Fact
from agentlake.models.link import Link
from agentlake.models.message import Message
from agentlake.models.roots import Root
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.turn import Turn
from agentlake.models.usage import Usage

SOURCE = "codex"
ROOTS = (Root(env="CODEX_HOME", default=("~/.codex",), strip="sessions"),)
PARSER_VERSION = 1

TOOLS = {
    "local_shell_call": "local_shell",
    "web_search_call": "web_search",
    "tool_search_call": "tool_search",
    "image_generation_call": "image_generation",
}
HOSTED = ("web_search_call", "image_generation_call")
TURNS = {
    "task_started": "started",
    "turn_started": "started",
    "task_complete": "ended",
    "turn_complete": "ended",
    "turn_aborted": "ended",
    "user_message": "user_message",
}

Found: TypeAlias = Iterator[Fact | Reject]
_ROLLOUT = re.compile(r"(rollout-.+?)\.(jsonl|jsonl\.zst|json)")


def discover(root: str, options: Options) -> Iterator[Stream]:
    """Rollouts by thread, and the two lists beside them by path.

    Of a thread that is there twice, live and archived, the first has its id as key.
    """
    del options
    streams: dict[str, Stream] = {}
    for folder in ("sessions", "archived_sessions"):
        for path, thread, reader in _rollouts(str(Path(root, folder))):
            again = "archived" if folder == "archived_sessions" else path
            keys = (thread, f"{thread}@{again}", f"{thread}@{path}")
            key = next(key for key in keys if key not in streams)
            streams[key] = Stream(path=path, key=key, reader=reader)
    for name in ("history.jsonl", "session_index.jsonl"):
        if (file := Path(root, name)).is_file():
            streams[name] = Stream(path=str(file), key=str(file))
    yield from sorted(streams.values(), key=lambda stream: stream.path)


def _rollouts(top: str) -> Iterator[tuple[str, str, Reader]]:
    """Path, thread and reader; of a plain and a compressed one only the plain one.

    The thread is the UUID at the end of the name, or the name if it has none.
    """
    files = {path: path.rpartition("/")[2] for path in files_below(top)}
    for path, name in files.items():
        found = _ROLLOUT.fullmatch(name)
        if found is None or (found[2] == "jsonl.zst" and path[:-4] in files):
            continue
        thread = written.THREAD.search(found[1])
        if found[2] != "json":
            yield path, thread[0] if thread else found[1], "jsonl"
        elif Path(top, name) == Path(path):  # the oldest, never below a date
            yield path, thread[0] if thread else found[1], "document"


class Where(msgspec.Struct, frozen=True, gc=False):
    """What a payload does not say itself: its thread, and when and where it stands."""

    thread: str
    key: str = ""
    at: datetime | None = None
    ordinal: int | None = None

    def name(self, payload: Payload, text: str | None) -> str:
        """The payload's own id, else one that a rewrite of the file does not change.

        The oldest lines have no time; then the record's key tells them apart.
        """
        if payload.id:
            return payload.id
        at = self.at.isoformat() if self.at else self.key
        said = f"{at}|{payload.type}|{payload.role}|{text or ''}"
        return f"{self.thread}:{sha256(said.encode()).hexdigest()[:12]}"


def parse(record: Record) -> Found:
    """One line is one payload; in the first generation the line is the payload."""
    stream, thread = record.stream, record.stream.key.partition("@")[0]
    if stream.key == stream.path:
        if stream.path.endswith("session_index.jsonl"):
            entry, rejects = written.BARE.decode(record.data)
            yield from _title(Where(thread), entry)
            yield from rejects
        return
    if stream.reader == "document":
        yield from _document(record, thread)
        return
    line, rejects = written.LINE.decode(record.data)
    where = Where(thread, record.key, line.timestamp, line.ordinal)
    kind, payload = line.type, line.payload
    if kind in ("response_item", "event_msg"):
        kind = payload.type if payload else None
    elif payload is None and kind not in LINES:
        payload, rejects = written.BARE.decode(record.data)
        where = Where(thread, record.key)
        kind = payload.type or ("session_meta" if payload.id else None)
    make = MAKE.get(kind or "")
    if make and payload:
        yield from make(where, payload)
    if make or payload is None:  # an odd field of what is passed over is no loss
        yield from rejects


def _document(record: Record, thread: str) -> Found:
    document, rejects = written.DOCUMENT.decode(record.data)
    if document.session:
        yield from _session(Where(thread), document.session)
    for index, item in enumerate(document.items):
        if make := MAKE.get(item.type or ""):
            yield from make(Where(thread, str(index)), item)
    yield from rejects


def _title(_: Where, named: Payload) -> Found:
    session_id, title = named.thread_id or named.id, named.thread_name
    if session_id and title:
        yield Session(session_id=session_id, title=title, title_source="index")


def _session(where: Where, meta: Payload) -> Found:
    """Who this thread is; the meta of another one is an ancestor's, copied."""
    thread, origin = where.thread, meta.origin
    if meta.id != thread and written.THREAD.fullmatch(thread):
        if meta.id is None:
            yield Reject("session_meta without id")
        else:
            yield _link(where, thread, meta.id, "copied")
        return
    base = meta.history_base.thread_id if meta.history_base else None
    spawner = origin.spawn.parent_thread_id or meta.parent_thread_id
    parent = spawner or meta.forked_from_id or base
    relation = "subagent" if origin.subagent or spawner else "fork" if parent else None
    git = meta.git or written.Git()
    yield Session(
        session_id=thread,
        parent_session_id=parent,
        relation=relation,
        agent_type=meta.agent,
        cwd=meta.cwd,
        git_branch=git.branch,
        git_commit=git.commit_hash,
        repo_url=git.repository_url,
        client_version=meta.cli_version,
        entrypoint=origin.word
        or meta.thread_source
        or ("subagent" if origin.subagent else None),
        provider=meta.model_provider,
        category=origin.category,
        replay_base=base,
        own_from_ordinal=meta.subagent_history_start_ordinal,
        started_at=meta.timestamp or where.at,
    )
    if parent and relation:
        yield _link(where, thread, parent, relation)


def _link(
    where: Where, child: str, parent: str, relation: str, call: str | None = None
) -> Link:
    return Link(
        session_id=child,
        parent_session_id=parent,
        relation=relation,
        tool_call_id=call,
        linked_at=where.at,
    )


def _spawned(where: Where, event: Payload) -> Found:
    """A subagent was begun; that it was talked to or stopped links nothing new."""
    child = event.agent_thread_id or event.new_thread_id
    if child and event.kind in (None, "started"):
        call = event.event_id or event.call_id
        yield _link(where, child, where.thread, "subagent", call)


def _turn(where: Where, turn: Payload) -> Found:
    yield Turn(
        session_id=where.thread,
        turn_id=turn.turn_id,
        kind=TURNS.get(turn.type or "", "context"),
        model=turn.model,
        cwd=turn.cwd,
        began_at=where.at,
        ordinal=where.ordinal,
    )


def _settings(where: Where, event: Payload) -> Found:
    settings = event.thread_settings or event
    if settings.model:
        yield from _turn(where, Payload(model=settings.model, cwd=settings.cwd))


def _counter(where: Where, event: Payload) -> Found:
    """The last request beside the running total; a mere rate limit has neither."""
    last = event.info and event.info.last_token_usage
    total = event.info and event.info.total_token_usage
    if last or total:
        yield Usage(
            session_id=where.thread,
            kind="counter",
            called_at=where.at,
            ordinal=where.ordinal,
            counter=total.counter if total else None,
            **(last.disjoint() if last else {}),
            **(total.disjoint("total_") if total else {}),
        )


def _record(where: Where, record: Payload) -> Found:
    """One response; its running sums, and its mirror in `compacted`, are left out."""
    if record.usage is None:
        yield Reject("token_usage_record without usage")
        return
    yield Usage(
        session_id=where.thread,
        request_id=record.response_id or None,
        turn_id=record.turn_id,
        kind="record",
        called_at=where.at,
        ordinal=where.ordinal,
        **record.usage.disjoint(),
    )


def _compacted(where: Where, compacted: Payload) -> Found:
    name = where.name(compacted, compacted.message)
    yield Compaction(
        session_id=where.thread,
        compaction_id=name,
        trigger=compacted.trigger,
        compacted_at=where.at,
        ordinal=where.ordinal,
    )
    if compacted.message:
        parts = [Part("text", compacted.message)]
        yield from _texts(where, compacted, parts, "user", "compaction_summary")


def _error(where: Where, event: Payload) -> Found:
    if event.message:
        yield from _texts(
            where, event, [Part("text", event.message)], "system", "error"
        )


def _reasoning(where: Where, item: Payload) -> Found:
    """Often only encrypted: then the block has no text."""
    texts = (written.joined(item.summary), written.joined(item.content))
    parts = [Part("thinking", "\n".join(text for text in texts if text) or None)]
    yield from _texts(where, item, parts, "assistant", "thinking")


def _message(where: Where, item: Payload) -> Found:
    """A user's message counts as typed unless any part of it was put in by Codex."""
    content = item.content or []
    parts = [Part("text", content)] if isinstance(content, str) else content
    role, kind = "system", "meta"
    if item.role == "assistant":
        role, kind = "assistant", "response"
    elif item.role == "user":
        injected = any(written.is_injected(part.text) for part in parts)
        role, kind = "user", "meta" if injected else "prompt"
    yield from _texts(where, item, parts, role, kind)


def _texts(
    where: Where, item: Payload, parts: list[Part], role: str, kind: str
) -> Found:
    name = where.name(item, written.joined(parts))
    beside = item.internal_chat_message_metadata_passthrough
    yield Message(
        session_id=where.thread,
        message_id=name,
        turn_id=beside.turn_id if beside else None,
        role=role,
        kind=kind,
        sent_at=where.at,
        ordinal=where.ordinal,
    )
    for index, part in enumerate(parts):
        yield Block(
            session_id=where.thread,
            message_id=name,
            block_index=index,
            type=part.kind,
            text=part.text,
        )


def _call(where: Where, item: Payload) -> Found:
    """A call; one that Codex's backend makes itself has its end in its status."""
    name = TOOLS.get(item.type or "") or item.name
    name = f"{item.namespace}.{name}" if item.namespace else name
    given = item.input if item.input is not None else item.action
    given = json_text(given) if given is not None else written.as_json(item.arguments)
    call = item.call_id or where.name(item, given)
    message = item.id or (f"{where.thread}:{call}" if item.call_id else call)
    yield ToolCall(
        session_id=where.thread,
        message_id=message,
        tool_call_id=call,
        name=name,
        input=given,
        called_at=where.at,
    )
    if item.type in HOSTED and item.status == "completed":
        yield ToolResult(
            session_id=where.thread,
            tool_call_id=call,
            is_error=False,
            finished_at=where.at,
        )


def _result(where: Where, item: Payload) -> Found:
    if not item.call_id:
        yield Reject(f"{item.type} without call_id")
        return
    answer = item.answer
    yield ToolResult(
        session_id=where.thread,
        tool_call_id=item.call_id,
        text=answer.text,
        is_error=answer.is_error,
        finished_at=where.at,
        duration_ms=answer.duration_ms,
    )


def _ended(where: Where, event: Payload) -> Found:
    """What an event knows of a call beside its output, which the items have."""
    if event.call_id:
        yield ToolResult(
            session_id=where.thread,
            tool_call_id=event.call_id,
            is_error=event.is_error,
            finished_at=where.at,
            duration_ms=event.duration_ms,
        )


LINES: dict[str, Callable[[Where, Payload], Found]] = {
    "session_meta": _session,
    "turn_context": _turn,
    "token_usage_record": _record,
    "compacted": _compacted,
}
MAKE = LINES | {
    # response items
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _call,
    "custom_tool_call": _call,
    **dict.fromkeys(TOOLS, _call),
    "function_call_output": _result,
    "custom_tool_call_output": _result,
    "tool_search_output": _result,
    # events
    **dict.fromkeys(TURNS, _turn),
    "thread_settings_applied": _settings,
    "thread_name_updated": _title,
    "token_count": _counter,
    "exec_command_end": _ended,
    "mcp_tool_call_end": _ended,
    "patch_apply_end": _ended,
    "web_search_end": _ended,
    "collab_agent_spawn_end": _spawned,
    "sub_agent_activity": _spawned,
    "error": _error,
}
"""What makes facts of each kind; lines, items and events share no name."""

# One name a line would be longer than all that is not ignored.
IGNORED = frozenset(
    """
    additional_tools agent_message agent_reasoning collab_waiting_end compaction
    compaction_summary context_compacted context_compaction dynamic_tools_updated
    entered_review_mode exited_review_mode ghost_snapshot guardian_assessment
    inter_agent_communication inter_agent_communication_metadata item_completed
    realtime_item retained_context security_risk_score thread_goal_updated
    thread_rolled_back view_image_tool_call world_state
    """.split()  # noqa: SIM905
)
"""Kinds with no fact of their own, passed over; so are those that nobody knows yet."""
