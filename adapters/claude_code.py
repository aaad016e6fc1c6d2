"""Claude Code: one JSONL transcript per session, and one per subagent.

Where:   <config>/projects/<encoded cwd>/<session id>.jsonl; subagents beside it in
         agent-<id>.jsonl (2.0) or <session id>/subagents/** (2.1), with a side file
         agent-<id>.meta.json; long outputs in <session id>/tool-results/. <config> is
         ~/.claude, moved by CLAUDE_CONFIG_DIR; 1.0.30 used ~/.config/claude; Claude
         Desktop keeps one per session below local-agent-mode-sessions.
Seen:    files of 1.0.17 - 2.1.185, the program up to 2.1.332; no public format document
Trap:    a reply is one row per content block; each repeats the usage, and early rows
         hold a placeholder. Resume, branch and side question copy rows to other
         files, ids kept. Every copy is given; core takes the largest output per id.
         The folder name does not decode to the cwd; `type` stands late in the line.
         toolUseResult, cost-state and api-request rows repeat usage: never booked.
Missing: side calls (titles, web search and fetch), failed retries, the final output
         count of streams up to 2.0 and in 2.1.9 - 2.1.21: they never reach the disk.
         Desktop from the Windows store: name its folder in the settings.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from agentlake.adapters import claude_code_format as claude
from agentlake.adapters.claude_code_format import (
    CompactMetadata,
    Part,
    Row,
    ToolUseResult,
)
from agentlake.adapters.sdk.contract import Options, Reader, Record, Reject, Stream
from agentlake.adapters.sdk.decode import Decoder, untyped
from agentlake.adapters.sdk.scan import files_below
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.fact import Fact
from agentlake.models.link import Link
from agentlake.models.message import Message
from agentlake.models.roots import Root
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import Spill, ToolResult
from agentlake.models.usage import Usage

SOURCE = "claude_code"
PARSER_VERSION = 1
DESKTOP = "local-agent-mode-sessions"
ROOTS = (
    Root(env="CLAUDE_CONFIG_DIR", default=("~/.claude",), strip="projects"),
    Root(default=("${XDG_CONFIG_HOME:-~/.config}/claude", "~/.config/claude")),
    Root(
        default=(
            f"~/Library/Application Support/Claude/{DESKTOP}",
            f"${{APPDATA:-~/AppData/Roaming}}/Claude/{DESKTOP}",
            f"${{XDG_CONFIG_HOME:-~/.config}}/Claude/{DESKTOP}",
        )
    ),
)

Facts: TypeAlias = Iterator[Fact | Reject]

_DESKTOP_DEPTH = 8
_FILE = re.compile(
    r""".*/projects/[^/]+/(?P<session>[^/]+)
    (?: \.jsonl
    | /subagents/(?:.+/)?agent-(?P<agent>[^/]+?)(?: \.jsonl | (?P<meta>\.meta\.json))
    | /tool-results/(?P<spill>[^/]+)
    )""",
    re.VERBOSE | re.DOTALL,
)
_rows = Decoder(Row)
_side_files = Decoder(claude.AgentMeta)


def discover(root: str, options: Options) -> Iterator[Stream]:
    """Transcripts, side files of agents, moved outputs, and the prompt history.

    Workflow journals and scripts, and what a compaction leaves behind (*.replaced,
    *.compact.tmp.*), are Claude Code's own business.
    """
    folders = _desktop_folders(root) if Path(root).name == DESKTOP else [root]
    streams = (stream for folder in folders for stream in _streams(Path(folder)))
    yield from sorted(streams, key=lambda stream: stream.path)


def _streams(folder: Path) -> Iterator[Stream]:
    if (history := folder / "history.jsonl").is_file():
        yield Stream(path=str(history), key=str(history))
    for entry in files_below(str(folder / "projects")):
        if found := _FILE.fullmatch(entry.path.replace("\\", "/")):
            whole = found["meta"] or found["spill"]
            reader: Reader = "document" if whole else "jsonl"
            yield Stream(path=entry.path, key=entry.path, reader=reader)


def _desktop_folders(root: str) -> Iterator[str]:
    """Folders whose `projects` is at most 8 levels down."""
    top = root.rstrip(os.sep).count(os.sep)
    for folder, below, _ in os.walk(root):
        if "projects" in below:
            yield folder
            below.remove("projects")
        if folder.count(os.sep) - top >= _DESKTOP_DEPTH - 1:
            below.clear()


class At(msgspec.Struct, frozen=True, gc=False):
    """Whose record it is, and what names it when it has no id of its own."""

    session_id: str
    agent_id: str | None
    key: str


@lru_cache(maxsize=4096)
def _place(path: str) -> tuple[str, At]:
    """What a stream of this path holds, and whose it is."""
    path = path.replace("\\", "/")
    name = path.rsplit("/", 1)[-1]
    if (found := _FILE.fullmatch(path)) is None:
        holds = "history" if name == "history.jsonl" else "rows"
        return holds, At(name.removesuffix(".jsonl"), None, name)
    holds = "spill" if found["spill"] else "meta" if found["meta"] else "rows"
    session, agent = found["session"], found["agent"]
    if session.startswith("agent-") and not agent:
        agent = session.removeprefix("agent-")
    return holds, At(session, agent, name)


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A line is one row: of a message, about the session, or of no interest."""
    holds, at = _place(record.stream.path)
    match holds:
        case "rows":
            return _of_row(record, at)
        case "meta":
            return _of_side_file(record, at)
        case "spill":
            text = record.data.decode("utf-8", "replace")
            return [Spill(session_id=at.session_id, ref=at.key, text=text)]
        case _:  # the history repeats prompts of the transcripts: kept in raw only
            return ()


def _of_row(record: Record, place: At) -> Facts:
    row, rejects = _rows.decode(record.data)
    facts = FACTS.get(row.type)
    if facts is None:  # one of IGNORED, or younger than this parser
        return
    yield from rejects
    session_id = row.session_id or place.session_id
    at = At(session_id, row.agent_id or place.agent_id, record.key)
    if row.message and row.message.spread is not None:
        text = claude.rejoined(untyped(record.data)["message"])
        row = replace(row, message=replace(row.message, content=text))
    yield from facts(row, at)
    if row.session_kind == "bg" and row.parent_uuid is None and row.uuid:
        yield Session(session_id=session_id, relation="continuation")


def _of_side_file(record: Record, at: At) -> Facts:
    meta, rejects = _side_files.decode(record.data)
    yield from rejects
    yield Session(
        session_id=at.session_id,
        agent_id=at.agent_id,
        relation="subagent",
        agent_type=meta.agent_type,
        cwd=meta.cwd,
    )
    if at.agent_id and meta.tool_use_id:
        yield _subagent(Row(), at, at.agent_id, meta.tool_use_id)


def _assistant(row: Row, at: At) -> Facts:
    """One block of a reply, with the usage of the whole reply."""
    if (body := row.message) is None:
        return
    if body.usage and body.model != "<synthetic>" and not row.is_api_error_message:
        yield _usage(row, at, body.usage, body.model, "")
        for index, inner in enumerate(body.usage.iterations or ()):
            match inner.type:  # what the counters of the reply leave out
                case "advisor_message":
                    yield _usage(row, at, inner, inner.model, f"advisor:{index}")
                case "compaction":
                    yield _usage(row, at, inner, body.model, f"compaction:{index}")
                case "fallback_message":
                    yield _usage(row, at, inner, inner.model, f"fallback:{index}")
    kind = "error" if row.is_api_error_message or row.error else "response"
    message_id = body.id or row.uuid or at.key
    yield _message(row, at, message_id, "assistant", kind)
    yield from _content(row, at, message_id, claude.parts_of(body.content))


def _user(row: Row, at: At) -> Facts:
    """What came back from tools, or what a human or the program said."""
    if row.message is None:
        return
    parts = claude.parts_of(row.message.content)
    if any(part.type == "tool_result" for part in parts):
        message_id = row.uuid or at.key
        yield _message(row, at, message_id, "tool", "tool_result")
        yield from _content(row, at, message_id, parts)
    else:
        yield from _said(row, at, parts)


def _said(row: Row, at: At, parts: list[Part]) -> Facts:
    message_id = row.uuid or at.key
    kind = _kind(row, at, parts)
    yield _message(row, at, message_id, "user", kind)
    if kind == "prompt":
        parts = [claude.without_ide_context(part) for part in parts]
    yield from _content(row, at, message_id, parts)
    if kind == "compaction_summary":  # old versions have no other record of it
        yield _compaction(row, at, None, None)


def _kind(row: Row, at: At, parts: list[Part]) -> str:
    if row.is_compact_summary:
        return "compaction_summary"
    said = [claude.without_ide_context(part) for part in parts if part.type == "text"]
    kinds = [claude.kind_of_text(part.text) for part in said if part.text]
    if parts and not said:
        kinds = ["prompt"]  # nothing but images or documents
    kind = next((kind for kind in kinds if kind != "meta"), "meta")
    injected = row.is_meta or row.is_sidechain or at.agent_id is not None
    if row.origin and row.origin.kind not in {None, "human"}:
        injected = True
    return "meta" if injected and kind in {"prompt", "command"} else kind


def _system(row: Row, at: At) -> Facts:
    """The program's own remarks; those on a compaction are facts of their own."""
    text = row.content if isinstance(row.content, str) else ""
    match row.subtype:
        case "compact_boundary":
            meta = row.compact_metadata
            yield _compaction(row, at, meta, meta.trigger if meta else None)
        case "microcompact_boundary":
            yield _compaction(row, at, row.microcompact_metadata, "micro")
        case "api_error":
            yield from _remark(row, at, "error", text)
        case "local_command" if text:
            kind = claude.kind_of_text(text)
            local = kind in {"command", "local_output"}
            yield from _remark(row, at, kind if local else "meta", text)
        case _ if text:
            yield from _remark(row, at, "meta", text)


def _attachment(row: Row, at: At) -> Facts:
    """A prompt typed while the model was busy, or context that was put in."""
    if (put := row.attachment) is None:
        return
    if put.type == "queued_command":
        if put.is_meta or put.command_mode == "task-notification":
            row = replace(row, is_meta=True)
        yield from _said(row, at, claude.parts_of(put.prompt))
    elif text := claude.text_of(put.content):
        yield from _remark(row, at, "meta", text)


def _remark(row: Row, at: At, kind: str, text: str) -> Facts:
    message_id = row.uuid or at.key
    yield _message(row, at, message_id, "system", kind)
    if text:
        yield Block(
            session_id=at.session_id,
            agent_id=at.agent_id,
            message_id=message_id,
            block_index=0,
            type="attachment" if row.attachment else "text",
            text=text,
        )


def _progress(row: Row, at: At) -> Facts:
    """A row of a subagent, repeated in its parent's transcript (until 2.1.3x)."""
    data = row.data
    if data is None or data.type != "agent_progress":
        return
    if isinstance(inner := data.message, Row):
        inner = replace(
            inner,
            is_sidechain=True,
            timestamp=inner.timestamp or row.timestamp,
            entrypoint=row.entrypoint,
            cwd=row.cwd,
            version=row.version,
            git_branch=row.git_branch,
            team_name=row.team_name,
            request_session_id=row.request_session_id,
            forked_from=row.forked_from,
        )
        whose = replace(at, agent_id=data.agent_id or at.agent_id)
        if inner.type == "assistant":
            yield from _assistant(inner, whose)
        elif inner.type == "user":
            found = _user(inner, whose)
            yield from (fact for fact in found if isinstance(fact, ToolResult))
    if data.agent_id:
        yield _subagent(row, at, data.agent_id, row.parent_tool_use_id)


def _about(row: Row, at: At) -> Facts:
    """Titles, and where sessions and agents come from."""
    session = at.session_id
    match row.type:
        case "custom-title" if title := row.custom_title:
            yield Session(session_id=session, title=title, title_source="custom")
        case "ai-title" if title := row.ai_title:
            yield Session(session_id=session, title=title, title_source="ai")
        case "summary" if title := row.summary:  # of the session that has the leaf
            named = Session(session_id=session, title=title, title_source="summary")
            yield replace(named, leaf_record_id=row.leaf_uuid)
        case "continued-in" if child := row.continued_in_session_id:
            yield _link(row, child, session, "continuation")
        case "derived-from":
            for item in row.sessions if isinstance(row.sessions, list) else ():
                match item:
                    case str(parent) | {"sessionId": str(parent)} if parent:
                        yield _link(row, session, parent, "fork")
        case "fork-context-ref" if origin := row.parent_session_id:
            relation = "subagent" if at.agent_id else "fork"
            link = _link(row, session, origin, relation)
            yield replace(link, agent_id=at.agent_id)
        case "queue-operation" if found := claude.agent_and_call(row.content):
            yield _subagent(row, at, *found)  # a queued prompt comes again as a row


FACTS: dict[str | None, Callable[[Row, At], Facts]] = {
    "assistant": _assistant,
    "attachment": _attachment,
    "progress": _progress,
    "system": _system,
    "user": _user,
    "ai-title": _about,
    "continued-in": _about,
    "custom-title": _about,
    "derived-from": _about,
    "fork-context-ref": _about,
    "queue-operation": _about,
    "summary": _about,
    None: _about,  # a damaged type: what it was is in the Reject
}


def _message(row: Row, at: At, message_id: str, role: str, kind: str) -> Message:
    return Message(
        session_id=at.session_id,
        agent_id=at.agent_id,
        message_id=message_id,
        record_id=row.uuid,
        parent_record_id=row.parent_uuid or row.logical_parent_uuid,
        request_session_id=row.request_session_id,
        forked_from_session_id=row.forked_from.session_id if row.forked_from else None,
        role=role,
        kind=kind,
        model=row.message.model if row.message else None,
        sent_at=row.timestamp,
        is_sidechain=row.is_sidechain,
        cwd=row.cwd,
        git_branch=row.git_branch,
        client_version=row.version,
        entrypoint=row.entrypoint,
        team=row.team_name,
        agent_type=row.attribution_agent,
    )


def _usage(
    row: Row, at: At, tokens: claude.Tokens, model: str | None, part: str
) -> Usage:
    body = row.message or claude.Body()
    details, server = tokens.output_tokens_details, tokens.server_tool_use
    written, hour = tokens.cache_writes()
    return Usage(
        session_id=at.session_id,
        agent_id=at.agent_id,
        message_id=body.id or None,
        request_id=row.request_id,
        record_id=row.uuid,
        request_session_id=row.request_session_id,
        forked_from_session_id=row.forked_from.session_id if row.forked_from else None,
        call_part=part,
        model=model,
        called_at=row.timestamp,
        input_tokens=tokens.input_tokens,
        cache_read_tokens=tokens.cache_read_input_tokens,
        cache_write_tokens=written,
        cache_write_1h_tokens=hour,
        output_tokens=tokens.output_tokens,
        reasoning_tokens=details.thinking_tokens if details else None,
        web_search_requests=server.web_search_requests if server else None,
        service_tier="fast" if tokens.speed == "fast" else tokens.service_tier,
        reported_cost_usd=None if part else row.cost_usd,
        is_final=body.stop_reason is not None,
    )


def _content(row: Row, at: At, message_id: str, parts: list[Part]) -> Facts:
    """Each part as a block, and what it asks of a tool or has from one."""
    result = row.tool_use_result
    extras = result if isinstance(result, ToolUseResult) else ToolUseResult()
    for index, part in enumerate(parts):
        kind = claude.block_type(part)
        call = part.id if kind == "tool_use" else part.tool_use_id
        yield Block(
            session_id=at.session_id,
            agent_id=at.agent_id,
            message_id=message_id,
            block_index=index,
            type=kind,
            text=part.thinking if kind == "thinking" else part.text,
            tool_call_id=call,
        )
        if not call:
            if kind in {"tool_use", "tool_result"}:
                yield Reject(f"`{part.type}` does not name its call")
        elif kind == "tool_use":
            yield ToolCall(
                session_id=at.session_id,
                agent_id=at.agent_id,
                message_id=message_id,
                tool_call_id=call,
                name=part.name,
                input=part.arguments(),
                called_at=row.timestamp,
            )
        elif kind == "tool_result":
            text = claude.text_of(part.content)
            yield _result(row, replace(at, key=message_id), part, text, extras)
            if agent := extras.agent_id or claude.spawned_agent(text):
                yield _subagent(row, at, agent, call)
            extras = ToolUseResult()  # they belong to the first result


def _result(
    row: Row, at: At, part: Part, text: str | None, extras: ToolUseResult
) -> ToolResult:
    took = extras.duration_ms
    if took is None:
        took = extras.total_duration_ms
    return ToolResult(
        session_id=at.session_id,
        agent_id=at.agent_id,
        message_id=at.key,
        tool_call_id=part.tool_use_id or "",
        text=text,
        ref=extras.persisted_output_path or claude.persisted_path(text),
        is_error=part.is_error,
        finished_at=row.timestamp,
        duration_ms=None if took is None else int(took),
        search_count=extras.search_count,
        spawned_agent_id=extras.agent_id,
    )


def _compaction(
    row: Row, at: At, meta: CompactMetadata | None, trigger: str | None
) -> Compaction:
    return Compaction(
        session_id=at.session_id,
        agent_id=at.agent_id,
        compaction_id=row.uuid or at.key,
        trigger=trigger,
        compacted_at=row.timestamp,
        tokens_before=meta.pre_tokens if meta else None,
        tokens_after=meta.post_tokens if meta else None,
    )


def _link(row: Row, session_id: str, parent: str, relation: str) -> Link:
    return Link(
        session_id=session_id,
        parent_session_id=parent,
        relation=relation,
        linked_at=row.timestamp,
    )


def _subagent(row: Row, at: At, agent_id: str, call: str | None) -> Link:
    link = _link(row, at.session_id, at.session_id, "subagent")
    return replace(link, agent_id=agent_id, tool_call_id=call)
