"""Tools as the user saw them: all there is where the model's history is gone."""

from collections.abc import Iterator
from typing import Any

from agentlake.adapters.cline_family.format import ENTRY, Entry
from agentlake.adapters.sdk.contract import Facts, Record
from agentlake.adapters.sdk.decode import Unreadable, untyped
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.sdk.values import json_text, raw_json
from agentlake.models.block import Block
from agentlake.models.message import Message
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult

SHOWN = 2
"""Precedence of what the user saw over the model's history."""
_ANSWERED_BY = {
    "tool": None,
    "command": "command_output",
    "use_mcp_server": "mcp_server_response",
    "browser_action": "browser_action_result",
}
"""The kinds of entries that are calls, and of those that show their output."""
_SHOW_OUTPUT = ("listfiles", "searchfiles", "listcode", "codebasesearch", "readfile")
"""How the names of tools begin whose entry has the output beside the input."""


def with_answers(
    entries: list[dict[str, Any]],
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Each entry, and whether it is a call: then with what shows its output."""
    for place, one in enumerate(entries):
        kind = one.get("say") or one.get("ask")
        if kind not in _ANSWERED_BY:
            yield one, False
            continue
        texts = []
        for later in entries[place + 1 :]:
            if (later.get("say") or later.get("ask")) in _ANSWERED_BY:
                break
            if later.get("say") == _ANSWERED_BY[kind] is not None:
                texts.append(later.get("text"))
        yield one | ({"$answers": texts} if texts else {}), True


def facts(record: Record, name: str) -> Facts:
    """A call, and its output where that was shown."""
    entry, rejects = ENTRY.decode(record.data)
    at, task = moment(entry.ts), name.partition("/")[0]
    tool, asked, answer = _call(entry)
    yield Message(
        session_id=task,
        message_id=name,
        role="assistant",
        kind="response",
        sent_at=at,
        precedence=SHOWN,
    )
    yield Block(
        session_id=task,
        message_id=name,
        block_index=0,
        type="tool_use",
        tool_call_id=name,
    )
    yield ToolCall(
        session_id=task,
        message_id=name,
        tool_call_id=name,
        name=tool,
        input=asked,
        called_at=at,
    )
    if entry.answers:
        answer = "\n".join(text for text in entry.answers if text)
    if answer is not None:
        yield ToolResult(
            session_id=task, message_id=name, tool_call_id=name, text=answer
        )
    yield from rejects


def _call(entry: Entry) -> tuple[str | None, str | None, str | None]:
    """The tool, its input, and its output where that stands beside it."""
    kind = entry.say or entry.ask
    if kind == "command":
        return "execute_command", json_text({"command": entry.text}), None
    try:
        told = untyped((entry.text or "{}").encode())
    except Unreadable:
        told = None
    if not isinstance(told, dict):
        return kind, json_text(entry.text), None
    if kind == "use_mcp_server":
        server, tool = told.get("serverName"), told.get("toolName") or told.get("uri")
        of = ".".join(str(one) for one in (server, tool) if one)
        return of or kind, raw_json(told.get("arguments")), None
    name = told.pop("tool", None) or told.pop("action", None) or kind
    answer = None
    if str(name).lower().startswith(_SHOW_OUTPUT):
        content, path = told.get("content"), str(told.get("path") or "")
        # of a file that was read it may be its path only
        if isinstance(content, str) and not content.endswith(path or "\0"):
            answer = told.pop("content")
    return str(name), json_text(told), answer
