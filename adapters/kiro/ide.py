"""The IDE: chats, sessions of workspaces, executions, and the layout that came after.

A chat is a snapshot of a whole conversation, so its messages are named by what they
say: the same ones in the next snapshot are the same messages.
"""

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, TypeAlias

import msgspec

from agentlake.adapters.kiro.format import (
    CHAT,
    EXECUTION,
    IDE_LINE,
    IDE_SESSION,
    Action,
    Head,
    IdeSession,
    Payload,
    Time,
)
from agentlake.adapters.kiro.talk import Facts, Say, head_facts
from agentlake.adapters.sdk.contract import Keyed, Record, Reject
from agentlake.adapters.sdk.decode import Decoder, encode, untyped
from agentlake.adapters.sdk.values import json_text, moment
from agentlake.models.link import Link
from agentlake.models.usage import Usage

Json: TypeAlias = dict[str, Any]

SYSTEM = ("# System Prompt", "# Identity", "<identity>", "## Included Rules")
"""How a message begins that no person wrote, although it is said to be one's."""
_ROLES = {
    "human": "user",
    "user": "user",
    "bot": "assistant",
    "assistant": "assistant",
    "tool": "tool",
}
_KINDS = {"user": "prompt", "assistant": "response", "tool": "tool_result"}
_PER_SECOND = 100
"""Places: one execution's actions come after those of the ones before."""
_SAYS = ("say", "model")
"""Actions whose output is what the agent said; any other is a tool's."""


class Spoken(msgspec.Struct, frozen=True, gc=False):
    """A record of a document: what is said of the session, a message, or an action."""

    head: Head | None = None
    session_id: str = ""
    name: str = ""
    role: str = ""
    text: str | None = None
    at: Time = None
    model: str | None = None
    action: Action | None = None
    execution: str | None = None
    reasons: list[str] = []


_spoken = Decoder(Spoken)


def chat(name: str, data: bytes) -> Iterator[Keyed]:
    """A snapshot: its messages by what they say. Raises Unreadable."""
    told, rejects = CHAT.decode(data)
    meta = told.metadata
    session_id = meta.workflow_id or told.execution_id or name
    head = Head(session_id, created_at=meta.start_time, model=meta.model_id)
    yield _record("session", Spoken(head=head))
    times: Counter[str] = Counter()
    for one in told.chat:
        role, text = _ROLES.get(one.role or "", "system"), _text(one.content)
        if not text or text.lstrip().startswith(SYSTEM):
            continue
        digest = sha256(f"{role}|{text}".encode()).hexdigest()[:16]
        times[digest] += 1
        spoken = Spoken(
            session_id=session_id,
            name=f"{session_id}:{digest}.{times[digest]}",
            role=role,
            text=text,
            at=meta.start_time,
            model=meta.model_id if role == "assistant" else None,
        )
        yield _record(f"messages/{digest}.{times[digest]}", spoken)
    yield from _damaged(rejects)


def session(name: str, data: bytes) -> Iterator[Keyed]:
    """A session of a workspace: its messages, and which executions belong to it.

    Raises Unreadable.
    """
    told, rejects = IDE_SESSION.decode(data)
    session_id = told.session_id or name
    yield _record("session", Spoken(head=_head(session_id, told)))
    for index, one in enumerate(told.history):
        if one.execution_id:
            link = Spoken(session_id=session_id, execution=one.execution_id)
            yield _record(f"executions/{one.execution_id}", link)
        text = _text(one.message.content) if one.message else None
        if one.message is None or not text or text.lstrip().startswith(SYSTEM):
            continue
        own = one.message.id or str(index)
        spoken = Spoken(
            session_id=session_id,
            name=f"{session_id}:{own}",
            role=_ROLES.get(one.message.role or "", "system"),
            text=text,
        )
        yield _record(f"messages/{own}", spoken)
    yield from _damaged(rejects)


def _head(session_id: str, told: IdeSession) -> Head:
    return Head(
        session_id,
        cwd=told.workspace_directory or next(iter(told.workspace_paths), None),
        title=told.title,
        created_at=told.created_at,
        model=told.selected_model,
    )


def execution(name: str, data: bytes) -> Iterator[Keyed]:
    """What the agent did and said in one execution. Raises Unreadable.

    Other files without an extension lie there too, lists of executions among them.
    """
    if not data.lstrip().startswith(b"{"):
        return
    about = untyped(data)
    if "executions" in about or "actions" not in about:
        return
    told, rejects = EXECUTION.decode(data)
    own = told.execution_id or name
    began = moment(told.start_time)
    first = int(began.timestamp() * _PER_SECOND) if began else 0
    for index, action in enumerate(told.actions):
        key = action.action_id or str(index)
        spoken = Spoken(
            session_id=told.chat_session_id or own,
            name=f"{own}:{key}",
            at=action.emitted_at or told.start_time,
            action=action,
        )
        yield Keyed(f"actions/{key}", encode(spoken), first + index)
    yield from _damaged(rejects)


def about(session_id: str, data: bytes) -> Iterator[Keyed]:
    """What session.json says of the session beside it. Raises Unreadable."""
    told, rejects = IDE_SESSION.decode(data)
    model = untyped(data).get("modelId")
    head = _head(session_id, told)
    head = msgspec.structs.replace(
        head, model=model if isinstance(model, str) else None
    )
    yield _record("session", Spoken(head=head))
    yield from _damaged(rejects)


def _record(key: str, spoken: Spoken) -> Keyed:
    return Keyed(key, encode(spoken))


def _damaged(rejects: list[Reject]) -> Iterator[Keyed]:
    if rejects:
        yield _record("damaged", Spoken(reasons=[one.reason for one in rejects]))


def facts(record: Record) -> Facts:
    """The facts of a record of a document."""
    it, rejects = _spoken.decode(record.data)
    if it.head:
        yield from head_facts(it.head)
    elif it.action:
        yield from _action(it, it.action)
    elif it.execution:
        yield Link(
            session_id=it.execution,
            parent_session_id=it.session_id,
            relation="continuation",
        )
    elif it.name:
        say = Say(it.session_id, it.name, moment(it.at))
        yield from say.message(it.role, _KINDS.get(it.role, "meta"), it.model)
        yield say.text(it.text)
    yield from map(Reject, it.reasons)
    yield from rejects


def _action(it: Spoken, action: Action) -> Facts:
    say = Say(it.session_id, it.name, moment(it.at))
    yield from say.message("assistant", "response")
    if action.action_type in _SAYS:
        yield say.text(_text(action.output))
        return
    yield from say.call(it.name, action.action_type, action.input)
    if action.output is not None:
        yield from say.result(it.name, json_text(action.output), None)


def line(session_id: str, record: Record) -> Facts:
    """A line of messages.jsonl."""
    told, rejects = IDE_LINE.decode(record.data)
    it = told.payload or Payload()
    name = f"{session_id}:{told.id or record.key}"
    say = Say(session_id, name, moment(told.timestamp))
    match it.type:
        case "user" | "assistant" as role:
            yield from say.message(role, _KINDS[role])
            yield say.text(it.text or _text(it.content))
        case "tool_call":
            yield from say.message("assistant", "response")
            yield from say.call(it.tool_call_id, it.name or it.tool_name, it.input)
        case "tool_result":
            yield from say.message("tool", "tool_result")
            said = it.output if it.content is None else it.content
            text = said if isinstance(said, str) else json_text(said)
            yield from say.result(it.tool_call_id, text, it.status)
        case "usage_summary":
            values = [one.usage for one in it.prompt_turn_summaries]
            credits = [one for one in values if one is not None]
            if credits:
                yield Usage(
                    session_id=session_id,
                    usage_key=f"{session_id}/{it.turn_id or told.id or record.key}",
                    called_at=moment(told.timestamp),
                    granularity="turn",
                    unit="credits",
                    amount=sum(credits),
                )
    yield from rejects


def _text(content: Any) -> str | None:
    """The texts of a content: bare, in an object, or in a list."""
    match content:
        case str():
            return content
        case {"text": str(text)} | {"message": str(text)} | {"content": str(text)}:
            return text
        case list():
            texts = [one for item in content if (one := _text(item))]
            return "\n".join(texts) if texts else None
        case _:
            return None
