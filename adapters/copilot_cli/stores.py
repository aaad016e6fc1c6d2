"""From what stands beside the event logs: database, export, side file, old history."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from msgspec.structs import replace

from agentlake.adapters.copilot_cli.format import (
    OLD_MESSAGE,
    SESSION_ROW,
    USAGE_ROW,
    OldFunction,
    OldMessage,
    SessionRow,
    UsageRow,
)
from agentlake.adapters.copilot_cli.runs import disjoint, scope, usd
from agentlake.adapters.families.copilot.format import Tokens
from agentlake.adapters.families.copilot.talk import At
from agentlake.adapters.sdk.contract import Facts, Keyed, Record, Reject, Stream, Table
from agentlake.adapters.sdk.decode import Unreadable, encode, untyped
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.sdk.values import json_text, raw_json
from agentlake.models.block import Block
from agentlake.models.fact import Fact
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.usage import Usage

TABLES = (
    Table(name="sessions", key=("id",)),
    Table(name="assistant_usage_events", key=("id",), order="id", above="id"),
)
_STORE = 40
"""Precedence of the database; the export's is lower."""

_SETTING = re.compile(r"(?P<name>\w+):\s*(?P<value>.*)")
_BLOCK = re.compile(r"[|>][+-]?")


def row(record: Record) -> Iterable[Fact | Reject]:
    """A row of the database: a session, or one call."""
    if record.key.startswith("sessions/"):
        told, rejects = SESSION_ROW.decode(record.data)
        return chain(_session(told), rejects)
    call, rejects = USAGE_ROW.decode(record.data)
    return chain(_call(call), rejects)


def _session(told: SessionRow) -> Facts:
    if told.id:
        yield Session(
            session_id=told.id,
            title=told.summary,
            title_source="summary" if told.summary else None,
            cwd=told.cwd,
            git_branch=told.branch,
            repo_url=told.repository,
            started_at=moment(told.created_at),
        )


def _call(call: UsageRow) -> Facts:
    if not call.session_id:
        yield Reject("usage row without session_id")
        return
    at = moment(call.created_at or call.timestamp)
    tokens = disjoint(
        Tokens(
            call.input_tokens,
            call.output_tokens,
            call.cache_read_tokens,
            call.cache_write_tokens,
            call.reasoning_tokens,
        )
    )
    if not any(tokens):
        return
    yield Usage(
        session_id=call.session_id,
        agent_id=call.agent_id or None,
        usage_key=f"{call.session_id}/store/{call.id}",
        scope=scope(call.session_id, call.model),
        precedence=_STORE,
        model=call.model,
        called_at=at,
        input_tokens=tokens.input,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
        output_tokens=tokens.output,
        reasoning_tokens=tokens.reasoning,
        reported_cost_usd=usd(call.total_nano_aiu, at),
        is_final=call.finish_reason is not None,
    )


def workspace(session: str, data: bytes) -> Facts:
    """The side file of a session: one setting per line."""
    told = _settings(data.decode("utf-8", "replace"))
    name = told.get("name") or told.get("summary")
    yield Session(
        session_id=session,
        title=name,
        title_source="index" if name else None,
        cwd=told.get("cwd"),
        git_branch=told.get("branch"),
        repo_url=told.get("repository"),
    )


def _settings(text: str) -> dict[str, str]:
    """The top level of a YAML file of plain, quoted and block texts."""
    told: dict[str, str] = {}
    block = ""
    for line in text.splitlines():
        if block and line[:1].isspace():
            told[block] = f"{told[block]}\n{line.strip()}".strip()
            continue
        found = _SETTING.fullmatch(line)
        if found is None:
            continue
        name, value = found["name"], found["value"].strip()
        block = name if _BLOCK.fullmatch(value) else ""
        told[name] = "" if block else _unquoted(value)
    return {name: value for name, value in told.items() if value not in ("", "null")}


def _unquoted(value: str) -> str:
    if value.startswith("'") and value.endswith("'"):
        return value[1:-1].replace("''", "'")
    if value.startswith('"') and value.endswith('"'):
        return str(untyped(value.encode()))
    return value


def history(stream: Stream, data: bytes) -> Iterator[Keyed]:
    """The messages of an old file: `<session>/<place>`."""
    document = untyped(data)
    if not isinstance(document, dict):
        msg = "a session is no JSON object"
        raise Unreadable(msg)
    session = document.get("sessionId")
    session = session if isinstance(session, str) and session else stream.key
    messages = document.get("chatMessages")
    yield Keyed(f"{session}/began", encode({"startTime": document.get("startTime")}))
    for place, message in enumerate(messages if isinstance(messages, list) else ()):
        yield Keyed(f"{session}/{place}", encode(message))


def old_message(record: Record) -> Iterable[Fact | Reject]:
    """A message of the first versions, which write neither ids, times nor tokens."""
    session, _, place = record.key.rpartition("/")
    if place == "began":
        at = untyped(record.data).get("startTime")
        known = at if isinstance(at, str | int | float) else None
        return [Session(session_id=session, started_at=moment(known))]
    message, rejects = OLD_MESSAGE.decode(record.data)
    return chain(_old(At(session, None, place, None), message), rejects)


_OLD_KINDS = {
    "user": ("user", "prompt"),
    "assistant": ("assistant", "response"),
    "tool": ("tool", "tool_result"),
}


def _old(at: At, message: OldMessage) -> Facts:
    role, kind = _OLD_KINDS.get(message.role or "", ("system", "meta"))
    content = message.content
    text = content if isinstance(content, str) else json_text(content)
    name = at.name(None)
    yield Message(session_id=at.session, message_id=name, role=role, kind=kind)
    block = Block(
        session_id=at.session,
        message_id=name,
        block_index=0,
        type="text",
        text=text,
    )
    if role == "tool" and message.tool_call_id:
        yield ToolResult(
            session_id=at.session,
            message_id=name,
            tool_call_id=message.tool_call_id,
            text=text,
        )
    elif text:
        yield block
    for index, call in enumerate(message.tool_calls or (), 1):
        if call.id:
            asked = call.function or OldFunction()
            yield replace(
                block,
                block_index=index,
                type="tool_use",
                text=None,
                tool_call_id=call.id,
            )
            yield ToolCall(
                session_id=at.session,
                message_id=name,
                tool_call_id=call.id,
                name=asked.name,
                input=raw_json(asked.arguments),
            )
