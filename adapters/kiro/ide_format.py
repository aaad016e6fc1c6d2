"""What Kiro's IDE writes, as typed structs: the fields that become facts."""

from typing import Any

import msgspec

from agentlake.adapters.kiro.format import Credits, Head, Time
from agentlake.adapters.sdk.decode import Decoder


class Message(msgspec.Struct, frozen=True, gc=False):
    """A message of a chat or of a session's history."""

    id: str | None = None
    role: str | None = None
    content: Any = None


class ChatMeta(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a chat says of itself."""

    model_id: str | None = None
    workflow_id: str | None = None
    start_time: Time = None


class Chat(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A whole conversation as it was at one execution."""

    execution_id: str | None = None
    chat: list[Message] = []
    metadata: ChatMeta = ChatMeta()


class Turned(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """An entry of a session's history."""

    message: Message | None = None
    execution_id: str | None = None


class IdeSession(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A session of a workspace; in the newest layout only what is said of it."""

    session_id: str | None = None
    title: str | None = None
    workspace_directory: str | None = None
    workspace_paths: list[str] = []
    selected_model: str | None = None
    created_at: Time = None
    last_modified_at: Time = None
    history: list[Turned] = []


class Action(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What the agent did in an execution."""

    action_id: str | None = None
    action_type: str | None = None
    input: Any = None
    output: Any = None
    emitted_at: Time = None


class Summed(msgspec.Struct, frozen=True, gc=False):
    """What one prompt of a turn cost."""

    usage: Credits | None = None
    unit: str | None = None


class Execution(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One execution; a file with `executions` is only a list of them."""

    execution_id: str | None = None
    id: str | None = None
    chat_session_id: str | None = None
    session_id: str | None = None
    conversation_id: str | None = None
    workflow_id: str | None = None
    start_time: Time = None
    end_time: Time = None
    actions: list[Action] = []
    usage_summary: list[Summed] = []


class Asked(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A call of a tool beside a message of an execution."""

    id: str | None = None
    tool_call_id: str | None = None
    name: str | None = None
    tool_name: str | None = None
    input: Any = None
    args: Any = None
    arguments: Any = None


class Payload(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a line of the newest layout is about."""

    type: str | None = None
    turn_id: str | None = None
    content: Any = None
    text: str | None = None
    tool_call_id: str | None = None
    name: str | None = None
    tool_name: str | None = None
    input: Any = None
    args: Any = None
    arguments: Any = None
    output: Any = None
    status: str | None = None
    success: bool | None = None
    operation_type: str | None = None
    prompt_turn_summaries: list[Summed] = []


class IdeLine(msgspec.Struct, frozen=True, gc=False):
    """A line of the newest layout."""

    id: str | None = None
    timestamp: Time = None
    payload: Payload | None = None


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
    asked: list[Asked] = []
    """Calls beside the text."""
    credits: float | None = None
    """What an execution cost."""
    execution: str | None = None
    reasons: list[str] = []


CHAT, IDE_SESSION, EXECUTION = Decoder(Chat), Decoder(IdeSession), Decoder(Execution)
IDE_LINE, SPOKEN, ASKED = Decoder(IdeLine), Decoder(Spoken), Decoder(list[Asked])
