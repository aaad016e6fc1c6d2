"""Tools, from the messages to and from the model: named by id, or told in words.

Older versions write a call as XML into the reply, and all write some answers as a text
that begins with `[<tool> for ...] Result:`. Such an answer names no call: it belongs to
the next one of its name that the reply before it asked for.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from agentlake.adapters.cline_family.format import Asked, Part
from agentlake.adapters.sdk.values import json_text

NAMES = (
    "access_mcp_resource|apply_diff|ask_followup_question|attempt_completion"
    "|browser_action|codebase_search|execute_command|insert_content"
    "|list_code_definition_names|list_files|new_task|plan_mode_respond|read_file"
    "|replace_in_file|search_and_replace|search_files|switch_mode"
    "|update_todo_list|use_mcp_tool|web_fetch|write_to_file"
)
CALL = re.compile(rf"<(?P<name>{NAMES})>(?P<body>.*?)</(?P=name)>", re.DOTALL)
CONTEXT = "<environment_details>"
"""How what the program says of the surroundings begins, behind all else."""
_NO_ANSWER = (CONTEXT, "<feedback>", "<user_message>", "<task>")
_END = "\0"
_ARGUMENT = re.compile(r"<(?P<name>\w+)>(?P<value>.*?)</(?P=name)>", re.DOTALL)
_ANSWER = re.compile(r"^\[(?P<name>\w+)\b[^\[]{0,2000}?\] Result:[^\S\n]*\n?", re.M)
_FAILED = re.compile(
    r"\s*(?:The tool execution failed|<error>|\[ERROR\]|Error executing"
    r"|The user denied this operation)"
)


class Called(msgspec.Struct, frozen=True, gc=False):
    """A call in a reply."""

    id: str
    name: str | None
    input: str | None


class Answered(msgspec.Struct, frozen=True, gc=False):
    """An answer in what the model got next."""

    id: str
    text: str | None
    is_error: bool | None


def calls(name: str, parts: Sequence[Part]) -> list[Called]:
    """The calls of a reply; those in XML are named by it and their place in it."""
    if any(part.type == "tool_use" for part in parts):
        return [
            Called(part.id, part.name, json_text(part.input))
            for part in parts
            if part.type == "tool_use" and part.id
        ]
    text = "\n".join(part.text for part in parts if part.text)
    return [
        Called(f"{name}.{place}" if place else name, call["name"], _arguments(call))
        for place, call in enumerate(CALL.finditer(text))
    ]


def _arguments(call: re.Match[str]) -> str | None:
    found = _ARGUMENT.finditer(call["body"])
    return json_text({one["name"]: one["value"].strip() for one in found})


def answers(
    name: str, before: str, parts: Sequence[Part], asked: Sequence[Asked]
) -> Iterator[Answered]:
    """The answers in a message; `before` names the reply before it."""
    given = [part for part in parts if part.type == "tool_result" and part.tool_use_id]
    for part in given:
        yield Answered(part.tool_use_id or "", text_of(part.content), part.is_error)
    open_calls = [one for one in asked if one.id not in {p.tool_use_id for p in given}]
    for place, (tool, text) in enumerate(in_words(parts, asked)):
        call = next((one for one in open_calls if one.name == tool), None)
        if call is None and open_calls:
            call = open_calls[0]
        if call:
            open_calls.remove(call)
        orphan = f"{name}.{place}" if asked else before
        failed = _FAILED.match(text) is not None
        yield Answered(call.id if call else orphan, text, failed or None)


def in_words(
    parts: Sequence[Part], asked: Sequence[Asked]
) -> Iterator[tuple[str, str]]:
    """The tool and the text of each answer in words.

    A header begins a part, and what stands in the parts behind it belongs to it. In a
    text only that of the next call counts: files contain anything.
    """
    text, starts = "", set[int]()
    for part in parts:
        if part.type == "text" and part.text:
            starts.add(len(text))
            is_own = part.text.lstrip().startswith(_NO_ANSWER)
            text += _END if is_own else part.text.lstrip() + "\n"
    names = [one.name for one in asked]
    found: list[re.Match[str]] = []
    for one in _ANSWER.finditer(text):
        expected = names[len(found)] if len(found) < len(names) else None
        if one.start() in starts or one["name"] == expected or not (found or names):
            found.append(one)
    ends = [one.start() for one in found[1:]] + [len(text)] * bool(found)
    for one, end in zip(found, ends, strict=True):
        answer = text[one.end() : end].partition(CONTEXT)[0].partition(_END)[0]
        yield one["name"], answer.strip()


def is_answer(text: str) -> bool:
    """Whether a text begins as an answer in words."""
    return _ANSWER.match(text.lstrip()) is not None


def text_of(content: Any) -> str | None:
    """A text, or the texts of a list of pieces, some of them results of queries."""
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list):
        found = [_piece(one) for one in content if isinstance(one, dict)]
        return "\n".join(text for text in found if text is not None)
    return json_text(content)


def has_failed(content: Any) -> bool | None:
    """Whether one of its pieces says that it failed."""
    if not isinstance(content, list):
        return None
    said = [one.get("success") for one in content if isinstance(one, dict)]
    return False in said or None


def _piece(piece: dict[str, Any]) -> str | None:
    for name in ("text", "result", "error"):
        value = piece.get(name)
        if isinstance(value, str) and value:
            return value
    return json_text(piece.get("result")) if "result" in piece else None
