"""The transcript of a task: protobuf, message by message."""

from datetime import datetime

import msgspec

from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.sdk.protobuf import Fields
from agentlake.adapters.sdk.values import json_text
from agentlake.adapters.warp.format import TOOLS, Said, Task, TaskRow
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.link import Link
from agentlake.models.message import Message
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult

_SHELL = 2


class Where(msgspec.Struct, frozen=True, gc=False):
    """What is the same for all that one message of a task says."""

    session_id: str
    agent_id: str | None
    message_id: str
    model: str | None
    at: datetime | None


def task(row: TaskRow) -> Facts:
    """All messages of a task; one that has a parent is the work of a subagent."""
    session_id = row.conversation_id
    if not session_id or not row.task_id or row.task is None:
        yield Reject("agent_tasks: row without conversation_id, task_id or task")
        return
    fields, damage = Fields.as_far_as(row.task.bytes())
    if damage:
        yield Reject(str(damage))
    dependencies = fields.message(Task.DEPENDENCIES)
    parent = dependencies.text(Task.PARENT_TASK) if dependencies else None
    agent_id = row.task_id if parent else None
    if agent_id:
        yield Link(
            session_id=session_id,
            agent_id=agent_id,
            parent_session_id=session_id,
            relation="subagent",
        )
    models: dict[str | None, str | None] = {}
    for index, data in enumerate(fields.all(Task.MESSAGES)):
        try:
            yield from list(_message(session_id, agent_id, Fields(data), models))
        except Unreadable as error:
            yield Reject(f"message {index} of the task: {error}")


def _message(
    session_id: str,
    agent_id: str | None,
    message: Fields,
    models: dict[str | None, str | None],
) -> Facts:
    """One message; the model is said once per request, before what it answers."""
    request, message_id = message.text(Said.REQUEST), message.text(Said.ID)
    if not message_id:
        yield Reject("message of a task without id")
        return
    if Said.MODEL in message:
        models[request] = _model(message)
        return
    where = Where(
        session_id,
        agent_id,
        message_id,
        models.get(request),
        message.moment(Said.TIMESTAMP),
    )
    yield from _one_of(where, message)


def _one_of(where: Where, message: Fields) -> Facts:
    if query := message.message(Said.QUERY):
        yield from _said(where, "user", "prompt", query.text(1))
    elif output := message.message(Said.OUTPUT):
        yield from _said(where, "assistant", "response", output.text(1))
    elif reasoning := message.message(Said.REASONING):
        yield from _said(where, "assistant", "response", reasoning.text(1), "thinking")
    elif call := message.message(Said.CALL):
        yield from _call(where, call)
    elif result := message.message(Said.RESULT):
        yield from _result(where, result)
    elif summarization := message.message(Said.SUMMARIZATION):
        summary = summarization.message(1)
        yield Compaction(
            session_id=where.session_id,
            agent_id=where.agent_id,
            compaction_id=where.message_id,
            compacted_at=where.at,
        )
        if summary:
            yield from _said(where, "user", "compaction_summary", summary.text(1))
    elif Said.SYSTEM_QUERY in message:
        yield from _said(where, "system", "meta", None)


def _said(
    where: Where, role: str, kind: str, text: str | None, block: str = "text"
) -> Facts:
    yield Message(
        session_id=where.session_id,
        agent_id=where.agent_id,
        message_id=where.message_id,
        role=role,
        kind=kind,
        model=where.model if role == "assistant" else None,
        sent_at=where.at,
    )
    if text:
        yield _block(where, block, text=text)


def _block(
    where: Where, type_: str, *, text: str | None = None, call: str | None = None
) -> Block:
    return Block(
        session_id=where.session_id,
        agent_id=where.agent_id,
        message_id=where.message_id,
        block_index=0,
        type=type_,
        text=text,
        tool_call_id=call,
    )


def _call(where: Where, call: Fields) -> Facts:
    """A call of a tool; only of commands it is known which field says what."""
    yield from _said(where, "assistant", "response", None)
    call_id = call.text(1)
    if not call_id:
        yield Reject("call of a tool without id")
        return
    number = next((it for it in TOOLS if it in call), None)
    command = call.message(_SHELL) if number == _SHELL else None
    yield _block(where, "tool_use", call=call_id)
    yield ToolCall(
        session_id=where.session_id,
        agent_id=where.agent_id,
        message_id=where.message_id,
        tool_call_id=call_id,
        name=TOOLS[number] if number else None,
        input=json_text({"command": command.text(1)}) if command else None,
        called_at=where.at,
    )


def _result(where: Where, result: Fields) -> Facts:
    """That a tool answered; what it said stands in fields that nobody has described."""
    yield from _said(where, "tool", "tool_result", None)
    call_id = result.text(1)
    if not call_id:
        yield Reject("result of a tool without id")
        return
    yield _block(where, "tool_result", call=call_id)
    yield ToolResult(
        session_id=where.session_id,
        agent_id=where.agent_id,
        message_id=where.message_id,
        tool_call_id=call_id,
        finished_at=where.at,
    )


def _model(message: Fields) -> str | None:
    """The model's id: the first field of a message, or the bare text."""
    try:
        within = message.message(Said.MODEL)
    except Unreadable:
        return message.text(Said.MODEL)
    return within.text(1) if within else None
