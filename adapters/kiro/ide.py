"""The IDE: chats, sessions of workspaces, and what is said of the newest sessions.

A chat is a snapshot of a whole conversation, and so is what some executions hold: so
messages are named by what they say. The same ones elsewhere are the same messages.
"""

from collections.abc import Iterator

import msgspec

from agentlake.adapters.kiro.executions import action, asked_for, cost
from agentlake.adapters.kiro.format import Head
from agentlake.adapters.kiro.ide_format import (
    CHAT,
    IDE_SESSION,
    SPOKEN,
    IdeSession,
    Spoken,
)
from agentlake.adapters.kiro.talk import (
    KINDS,
    Names,
    Say,
    head_facts,
    model_of,
    role_of,
    typed,
    words,
)
from agentlake.adapters.sdk.contract import Facts, Keyed, Record, Reject
from agentlake.adapters.sdk.decode import encode, untyped
from agentlake.adapters.sdk.moments import moment
from agentlake.models.link import Link


def chat(name: str, data: bytes) -> Iterator[Keyed]:
    """A snapshot: its messages by what they say. Raises Unreadable."""
    told, rejects = CHAT.decode(data)
    meta = told.metadata
    session_id = meta.workflow_id or told.execution_id or name
    head = Head(session_id, created_at=meta.start_time, model=meta.model_id)
    yield _record("session", Spoken(head=head))
    names = Names()
    for one in told.chat:
        role, text = role_of(one.role), typed(words(one.content))
        if not text:
            continue
        name = names.next(role, text)
        spoken = Spoken(
            session_id=session_id,
            name=f"{session_id}:{name}",
            role=role,
            text=text,
            at=meta.start_time,
            model=meta.model_id if role == "assistant" else None,
        )
        yield _record(f"messages/{name}", spoken)
    yield from _damaged(rejects)


def session(name: str, data: bytes) -> Iterator[Keyed]:
    """A session of a workspace: its messages, and which executions belong to it.

    Raises Unreadable.
    """
    told, rejects = IDE_SESSION.decode(data)
    session_id = told.session_id or name
    yield _record("session", Spoken(head=_head(session_id, told)))
    names = Names()
    for one in told.history:
        if one.execution_id:
            link = Spoken(session_id=session_id, execution=one.execution_id)
            yield _record(f"executions/{one.execution_id}", link)
        text = typed(words(one.message.content)) if one.message else None
        if one.message is None or not text:
            continue
        role = role_of(one.message.role)
        name = names.next(role, text)
        spoken = Spoken(
            session_id=session_id, name=f"{session_id}:{name}", role=role, text=text
        )
        yield _record(f"messages/{name}", spoken)
    yield from _damaged(rejects)


def _head(session_id: str, told: IdeSession) -> Head:
    return Head(
        session_id,
        cwd=told.workspace_directory or next(iter(told.workspace_paths), None),
        title=told.title,
        created_at=told.created_at,
        model=told.selected_model,
    )


def about(session_id: str, data: bytes) -> Iterator[Keyed]:
    """What session.json says of the session beside it. Raises Unreadable."""
    told, rejects = IDE_SESSION.decode(data)
    head = _head(session_id, told)
    head = msgspec.structs.replace(
        head,
        created_at=told.created_at or told.last_modified_at,
        model=model_of(untyped(data)),
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
    it, rejects = SPOKEN.decode(record.data)
    if it.head:
        yield from head_facts(it.head)
    elif it.action:
        yield from action(it, it.action)
    elif it.credits is not None:
        yield from cost(it)
    elif it.execution:
        yield Link(
            session_id=it.execution,
            parent_session_id=it.session_id,
            relation="continuation",
        )
    elif it.name:
        say = Say(it.session_id, it.name, moment(it.at))
        yield from say.message(it.role, KINDS.get(it.role, "meta"), it.model)
        if it.text:
            yield say.text(it.text)
        yield from asked_for(say, it)
    yield from map(Reject, it.reasons)
    yield from rejects
