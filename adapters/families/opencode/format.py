"""What OpenCode and its forks write, as typed structs: the fields that become facts.

Every field may be absent. Times are milliseconds since 1970. One name belongs to many
kinds of parts and messages, so there is one struct for all parts and one for all
messages; a field that two kinds write differently has the union of both types.
"""

from typing import Annotated, Any, TypeAlias

import msgspec

from agentlake.adapters.sdk.decode import Decoder

Number: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**40), le=2**40)]
"""A count; early versions subtracted too much, so it may be negative."""
Usd: TypeAlias = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
Millis: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e14)]


class Cache(msgspec.Struct, frozen=True, gc=False):
    """Prompt tokens that were read from and written to the cache."""

    read: Number | None = None
    write: Number | None = None


class Tokens(msgspec.Struct, frozen=True, gc=False):
    """Counts of one step; whether output includes reasoning, the total tells."""

    total: Number | None = None
    input: Number | None = None
    output: Number | None = None
    reasoning: Number | None = None
    cache: Cache = Cache()


class Time(msgspec.Struct, frozen=True, gc=False):
    """The moments of a session, message, part or tool."""

    created: Millis | None = None
    completed: Millis | None = None
    updated: Millis | None = None
    start: Millis | None = None
    end: Millis | None = None
    ran: Millis | None = None


class Model(msgspec.Struct, frozen=True, gc=False):
    """A model by its provider; V1 names it `modelID`, V2 `id`."""

    id: str | None = None
    model_id: str | None = msgspec.field(default=None, name="modelID")
    provider_id: str | None = msgspec.field(default=None, name="providerID")


class Paths(msgspec.Struct, frozen=True, gc=False):
    """Where an answer was worked on."""

    cwd: str | None = None


class ErrorText(msgspec.Struct, frozen=True, gc=False):
    """What an error says."""

    message: str | None = None


class Error(msgspec.Struct, frozen=True, gc=False):
    """Why a reply failed; V2 has the message beside the name."""

    name: str | None = None
    type: str | None = None
    message: str | None = None
    data: ErrorText | None = None


class ToolMeta(msgspec.Struct, frozen=True, gc=False):
    """What a tool says beside its output."""

    exit: Any = None
    session_id: str | None = msgspec.field(default=None, name="sessionId")


class Item(msgspec.Struct, frozen=True, gc=False):
    """One piece of a tool's output."""

    type: str | None = None
    text: str | None = None


class ToolState(msgspec.Struct, frozen=True, gc=False):
    """How far a tool has come, and what it gave."""

    status: str | None = None
    input: Any = None
    output: Any = None
    content: list[Item] = []
    error: Any = None
    metadata: ToolMeta | None = None
    structured: ToolMeta | None = None
    time: Time | None = None


class Part(msgspec.Struct, frozen=True, gc=False):
    """A part of a message, or one item of a message's content."""

    type: str | None = None
    id: str | None = None
    session_id: str | None = msgspec.field(default=None, name="sessionID")
    message_id: str | None = msgspec.field(default=None, name="messageID")
    text: str | None = None
    synthetic: bool | None = None
    ignored: bool | None = None
    name: str | None = None
    prompt: str | None = None
    mime: str | None = None
    filename: str | None = None
    auto: bool | None = None
    reason: str | None = None
    snapshot: Any = None
    cost: Usd | None = None
    tokens: Tokens | None = None
    call_id: str | None = msgspec.field(default=None, name="callID")
    tool: str | None = None
    state: ToolState | None = None
    time: Time | None = None


class File(msgspec.Struct, frozen=True, gc=False):
    """A file that was handed over with a prompt."""

    name: str | None = None
    filename: str | None = None
    mime: str | None = None


class Message(msgspec.Struct, frozen=True, gc=False):
    """The `data` of a message.

    `version` and `parts` are not the agent's: the selection of the row adds the
    version that began the session, and what the parts say of the message's usage and
    of its kind.
    """

    role: str | None = None
    parent_id: str | None = msgspec.field(default=None, name="parentID")
    agent: str | None = None
    mode: str | None = None
    model_id: str | None = msgspec.field(default=None, name="modelID")
    provider_id: str | None = msgspec.field(default=None, name="providerID")
    path: Paths | None = None
    model: Model | None = None
    cost: Usd | None = None
    tokens: Tokens | None = None
    time: Time = Time()
    finish: str | None = None
    error: Error | None = None
    summary: Any = None
    version: str | None = None
    parts: list[Part] = []

    # V2
    content: list[Part] = []
    text: str | None = None
    description: str | None = None
    files: list[File] = []
    command: str | None = None
    output: Any = None
    status: str | None = None
    reason: str | None = None


class Session(msgspec.Struct, frozen=True, gc=False):
    """A session: a row of either generation, or a file of the tree."""

    id: str | None = None
    parent_id: str | None = None
    parent: str | None = msgspec.field(default=None, name="parentID")
    fork_session_id: str | None = None
    directory: str | None = None
    title: str | None = None
    version: str | None = None
    agent: str | None = None
    model: Any = None
    worktree: str | None = None
    task_type: str | None = None
    time: Time = Time()
    time_created: Millis | None = None
    time_updated: Millis | None = None
    cost: Usd | None = None
    tokens_input: Number | None = None
    tokens_output: Number | None = None
    tokens_reasoning: Number | None = None
    tokens_cache_read: Number | None = None
    tokens_cache_write: Number | None = None


class Row(msgspec.Struct, frozen=True, gc=False):
    """A row of any other table; what matters is the JSON text in `data`."""

    id: str | None = None
    session_id: str | None = None
    message_id: str | None = None
    aggregate_id: str | None = None
    type: str | None = None
    time_created: Millis | None = None
    created: Millis | None = None
    data: str | None = None


class Event(msgspec.Struct, frozen=True, gc=False):
    """The `data` of an event that records usage beside any message."""

    session_id: str | None = msgspec.field(default=None, name="sessionID")
    source: str | None = None
    model: Model | None = None
    cost: Usd | None = None
    tokens: Tokens | None = None
    time: Time = Time()


ROW, SESSION, MESSAGE = Decoder(Row), Decoder(Session), Decoder(Message)
PART, EVENT, MODEL = Decoder(Part), Decoder(Event), Decoder(Model)
