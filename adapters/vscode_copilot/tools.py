"""Tools: as Copilot keeps them for the model, and as a response shows them."""

from collections.abc import Iterator
from typing import Any

from agentlake.adapters.sdk.decode import encode
from agentlake.adapters.sdk.values import json_text, raw_json
from agentlake.adapters.vscode_copilot.format import (
    DETAILS,
    SUFFIX,
    Call,
    CommandLine,
    Details,
    Ended,
    Metadata,
    Part,
    Specific,
)
from agentlake.models.fact import Fact
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult


def facts(
    chat: str, message: str, parts: list[Part], metadata: Metadata
) -> Iterator[Fact]:
    """Calls as Copilot keeps them; one that only the response shows, by that."""
    rounds = metadata.tool_call_rounds or []
    asked = {
        SUFFIX.sub("", call.id): call
        for one in rounds
        for call in one.tool_calls or ()
        if call.id
    }
    done = set()
    shown = {}
    for part in parts:
        if part.kind == "toolInvocationSerialized" and part.tool_call_id:
            name = SUFFIX.sub("", part.tool_call_id)
            shown[name] = part
            asked.setdefault(name, Call(name, part.tool_id))
            if part.is_complete:
                done.add(name)
    answers = {
        SUFFIX.sub("", name): answer
        for name, answer in (metadata.tool_call_results or {}).items()
    }
    for name, call in asked.items():
        yield ToolCall(
            session_id=chat,
            message_id=message,
            tool_call_id=name,
            name=call.name,
            input=raw_json(call.arguments or None) or _input(shown.get(name)),
        )
    for name in sorted(asked.keys() & (answers.keys() | done)):
        yield ToolResult(
            session_id=chat,
            message_id=message,
            tool_call_id=name,
            text=_output(answers.get(name)) or _printed(shown.get(name)),
            is_error=_has_failed(shown.get(name)),
        )


def _output(answer: Any) -> str | None:
    """The texts of an answer's content, if they are plain; else all of it as JSON."""
    content = answer.get("content") if isinstance(answer, dict) else answer
    if isinstance(content, list):
        texts = [one.get("value") for one in content if isinstance(one, dict)]
        if texts and all(isinstance(text, str) for text in texts):
            return "\n".join(map(str, texts))
    return content if isinstance(content, str) else json_text(answer)


def _details(part: Part) -> Details:
    told = part.result_details
    return DETAILS.decode(encode(told))[0] if isinstance(told, dict) else Details()


def _input(part: Part | None) -> str | None:
    """What a response shows of a call's input."""
    if part is None:
        return None
    told = part.tool_specific_data or Specific()
    line = told.command_line or CommandLine()
    if isinstance(line, str):
        line = CommandLine(line)
    command = line.original or line.user_edited or line.tool_edited or told.command
    if command:
        return json_text({"command": command})
    given = _details(part).input
    return raw_json(given if told.raw_input is None else told.raw_input)


def _printed(part: Part | None) -> str | None:
    """What a response shows of a call's output."""
    if part is None:
        return None
    told = part.tool_specific_data or Specific()
    if told.terminal_command_output:
        return told.terminal_command_output.text
    output = _details(part).output
    return None if output is None else _output({"content": output})


def _has_failed(part: Part | None) -> bool | None:
    if part is None:
        return None
    ended = (part.tool_specific_data or Specific()).terminal_command_state or Ended()
    return _details(part).is_error or (bool(ended.exit_code) or None)
