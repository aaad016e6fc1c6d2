"""Tools, from the messages to and from the model: named by id, or as XML in a text."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from agentlake.adapters.cline_family.format import Part
from agentlake.adapters.sdk.values import json_text
from agentlake.models.fact import Fact
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult

_NAMES = (
    "access_mcp_resource|apply_diff|ask_followup_question|attempt_completion"
    "|browser_action|codebase_search|execute_command|insert_content"
    "|list_code_definition_names|list_files|new_task|plan_mode_respond|read_file"
    "|replace_in_file|search_and_replace|search_files|switch_mode"
    "|update_todo_list|use_mcp_tool|web_fetch|write_to_file"
)
_CALL = re.compile(rf"<(?P<name>{_NAMES})>(?P<body>.*?)</(?P=name)>", re.DOTALL)
_ARGUMENT = re.compile(r"<(?P<name>\w+)>(?P<value>.*?)</(?P=name)>", re.DOTALL)
_RESULT = re.compile(rf"\[(?:{_NAMES})\b.*?\] Result:\s*", re.DOTALL)


def tools(
    session: str,
    place: int,
    role: str | None,
    parts: Sequence[Part],
    at: datetime | None,
) -> Iterator[Fact]:
    """Calls in a reply, and results in what the model got next.

    One XML call stands in a reply at most, so its place names it, and the result in
    the message after it.
    """
    for part in parts:
        if part.type == "tool_use" and part.id:
            yield _call(session, place, part, at)
        elif part.type == "tool_result" and part.tool_use_id:
            yield ToolResult(
                session_id=session,
                message_id=f"{session}/history/{place}",
                tool_call_id=part.tool_use_id,
                text=text_of(part.content),
                is_error=part.is_error,
                finished_at=at,
            )
    if any(part.type in ("tool_use", "tool_result") for part in parts):
        return
    text = "\n".join(part.text for part in parts if part.text)
    if role == "assistant" and (call := _CALL.search(text)):
        given = {
            one["name"]: one["value"].strip()
            for one in _ARGUMENT.finditer(call["body"])
        }
        part = Part(id=f"{session}/{place}", name=call["name"], input=given)
        yield _call(session, place, part, at)
    elif role == "user" and (result := _RESULT.search(text)):
        answer = text[result.end() :].partition("<environment_details>")[0].strip()
        yield ToolResult(
            session_id=session,
            message_id=f"{session}/history/{place}",
            tool_call_id=f"{session}/{place - 1}",
            text=answer,
            finished_at=at,
        )


def _call(session: str, place: int, part: Part, at: datetime | None) -> ToolCall:
    return ToolCall(
        session_id=session,
        message_id=f"{session}/history/{place}",
        tool_call_id=part.id or "",
        name=part.name,
        input=json_text(part.input),
        called_at=at,
    )


def text_of(content: Any) -> str | None:
    """A text, or the texts of a list of pieces."""
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [one.get("text") for one in content if isinstance(one, dict)]
        return "\n".join(text for text in texts if isinstance(text, str))
    return json_text(content)
