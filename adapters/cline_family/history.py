"""The history that the model got: tools, models, folders.

Where it is all that is left of a task, also what was said.
"""

import re
from collections.abc import Iterator
from datetime import datetime

from agentlake.adapters.cline_family import tools
from agentlake.adapters.cline_family.format import SPOKEN, Part, Spoken
from agentlake.adapters.cline_family.lists import BEHIND_LISTS, objects
from agentlake.adapters.sdk.contract import Facts, Keyed, Record
from agentlake.adapters.sdk.decode import Unreadable, encode
from agentlake.adapters.sdk.moments import from_epoch, moment
from agentlake.adapters.sdk.values import parts_of
from agentlake.models.block import Block
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.turn import Turn

_MODEL = re.compile(r"<model>\s*([^<>\s][^<>]*?)\s*</model>")
_CWD = re.compile(r"Current (?:Workspace|Working) Directory \(([^)\n]+)\)")
_PROGRAM = ("[ERROR]", "[TASK RESUMPTION]", "# Reminder")
"""How a message begins that the program wrote in the user's name."""
HISTORY = 1
"""Precedence of a history over the list that the user saw, where both came to be."""


def explode(task: str, data: bytes, *, is_alone: bool) -> Iterator[Keyed]:
    """Placed behind the lists: their folder is surer than the one in a prompt.

    A message gets the calls of the reply before it, which its answers need not name.
    """
    beside: dict[str, object] = {}
    for place, one in enumerate(objects(data)):
        name = f"{task}/{place}"
        more: dict[str, object] = {"$alone": True} if is_alone else {}
        if one.get("role") == "assistant":
            asked = [[call.id, call.name] for call in tools.calls(name, _parts(one))]
            beside = {"$asked": asked, "$before": name} if asked else {}
        elif one.get("role") == "user":
            more |= beside
        yield Keyed(f"history|{name}", encode(one | more), place + BEHIND_LISTS)


def _parts(one: dict[str, object]) -> list[Part]:
    try:
        return parts_of(SPOKEN.decode(encode(one))[0].content, Part)
    except Unreadable:
        return []


def facts(record: Record, name: str) -> Facts:
    """Tools, what the program says of the surroundings, and where need be the words."""
    task, _, place = name.partition("/")
    said, rejects = SPOKEN.decode(record.data)
    at, parts = moment(said.ts), parts_of(said.content, Part)
    message_id = f"{task}/history/{place}"
    if said.role == "assistant":
        for call in tools.calls(name, parts):
            yield ToolCall(
                session_id=task,
                message_id=message_id,
                tool_call_id=call.id,
                name=call.name,
                input=call.input,
                called_at=at,
            )
    else:
        before = said.before or f"{task}/{int(place) - 1}"
        for one in tools.answers(name, before, parts, said.asked):
            yield ToolResult(
                session_id=task,
                message_id=message_id,
                tool_call_id=one.id,
                text=one.text,
                is_error=one.is_error,
                finished_at=at,
            )
    if said.is_alone:
        yield from _message(task, message_id, name, said, at)
    if said.role == "user":
        yield from surroundings(task, "\n".join(it.text for it in parts if it.text), at)
    yield from rejects


def surroundings(task: str, text: str, at: datetime | None) -> Facts:
    """The model and the folder, as the program put them behind a prompt."""
    context = text.rpartition(tools.CONTEXT)[2] if tools.CONTEXT in text else ""
    if at and (model := model_in(context)):
        yield Turn(session_id=task, kind="context", model=model, began_at=at)
    if folder := folder_in(context):
        yield Session(session_id=task, cwd=folder)


def model_in(context: str) -> str | None:
    """The model that a text on the surroundings names."""
    found = _MODEL.findall(context)
    return str(found[-1]) if found else None


def folder_in(context: str) -> str | None:
    """The folder that a text on the surroundings names."""
    found = _CWD.search(context)
    return found[1].strip() or None if found else None


def _message(
    task: str, message_id: str, name: str, said: Spoken, at: datetime | None
) -> Facts:
    if name.endswith("/0") and task.isdigit():
        # a task is named by the moment in which it began
        yield Session(session_id=task, started_at=from_epoch(int(task)))
    blocks = list(_blocks(name, said))
    yield Message(
        session_id=task,
        message_id=message_id,
        role=(role := _role(said, blocks))[0],
        kind=role[1],
        sent_at=at,
        precedence=HISTORY,
    )
    for index, (type_, text, call) in enumerate(blocks):
        yield Block(
            session_id=task,
            message_id=message_id,
            block_index=index,
            type=type_,
            text=text,
            tool_call_id=call,
        )


def _role(
    said: Spoken, blocks: list[tuple[str, str | None, str | None]]
) -> tuple[str, str]:
    if said.role == "assistant":
        return "assistant", "response"
    if said.role != "user":
        return "system", "meta"
    texts = [text or "" for type_, text, _ in blocks if type_ == "text"]
    typed = [text for text in texts if not text.lstrip().startswith(_PROGRAM)]
    if typed or any(type_ == "image" for type_, _, _ in blocks):
        return "user", "prompt"
    return ("user", "meta") if texts else ("tool", "tool_result")


def _blocks(name: str, said: Spoken) -> Iterator[tuple[str, str | None, str | None]]:
    """Type, text and call of each block.

    Calls in XML and answers in words are no texts, and the surroundings are left out.
    """
    parts = parts_of(said.content, Part)
    is_answer = False
    for part in parts:
        text = part.text or part.thinking
        match part.type:
            case "thinking" | "reasoning":
                yield "thinking", text, None
            case "text" if said.role == "assistant":
                if rest := tools.CALL.sub("", text or "").strip():
                    yield "text", rest, None
            case "text":
                stripped = (text or "").partition(tools.CONTEXT)[0].strip()
                begins = tools.is_answer(stripped)
                is_answer = begins or (is_answer and not stripped.startswith("<"))
                if stripped and not is_answer:
                    yield "text", stripped, None
            case "image" | "document":
                yield part.type, None, None
            case "tool_use" | "tool_result":
                yield part.type, None, part.id or part.tool_use_id
            case _:
                yield "other", text, None
    if said.role == "assistant" and not any(part.type == "tool_use" for part in parts):
        for call in tools.calls(name, parts):
            yield "tool_use", None, call.id
