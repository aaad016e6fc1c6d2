"""What Kiro and Amazon Q write, as typed structs: the fields that become facts."""

from typing import Annotated, Any, TypeAlias

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count

Time: TypeAlias = float | str | None
"""ISO text, or (milli)seconds since 1970."""
Credits: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e9)]


# data.sqlite3


class Row(msgspec.Struct, frozen=True, gc=False):
    """A row of `conversations` or `conversations_v2`; the key is a directory."""

    key: str | None = None
    conversation_id: str | None = None
    value: str | None = None
    created_at: float | None = None


class ModelInfo(msgspec.Struct, frozen=True, gc=False):
    """The model that is set now."""

    model_id: str | None = None


class Conversation(msgspec.Struct, frozen=True, gc=False):
    """The value of a row; the history is a window on the conversation's end."""

    conversation_id: str | None = None
    history: list[msgspec.Raw] = []
    latest_summary: str | list[Any] | None = None
    model_info: ModelInfo | None = None


class Prompt(msgspec.Struct, frozen=True, gc=False):
    """What the user typed."""

    prompt: str | None = None


class QResult(msgspec.Struct, frozen=True, gc=False):
    """What a tool answered; an item of the content has the one name of its kind."""

    tool_use_id: str | None = None
    content: list[dict[str, Any]] = []
    status: str | None = None


class QResults(msgspec.Struct, frozen=True, gc=False):
    """Answers of tools; with a prompt where the user cancelled them by it."""

    prompt: str | None = None
    tool_use_results: list[QResult] = []


class QContent(msgspec.Struct, frozen=True, gc=False, rename="pascal"):
    """What the user's half is: one of these."""

    prompt: Prompt | None = None
    tool_use_results: QResults | None = None
    cancelled_tool_uses: QResults | None = None


class EnvState(msgspec.Struct, frozen=True, gc=False):
    """Where the turn was made."""

    current_working_directory: str | None = None


class EnvContext(msgspec.Struct, frozen=True, gc=False):
    """What the user's half says of its surroundings."""

    env_state: EnvState | None = None


class QUser(msgspec.Struct, frozen=True, gc=False):
    """The user's half of an entry."""

    content: QContent = QContent()
    timestamp: Time = None
    images: list[Any] | None = None
    env_context: EnvContext | None = None


class QToolUse(msgspec.Struct, frozen=True, gc=False):
    """A call of a tool."""

    id: str | None = None
    name: str | None = None
    args: Any = None


class QReply(msgspec.Struct, frozen=True, gc=False):
    """What the model said."""

    message_id: str | None = None
    content: str | None = None
    tool_uses: list[QToolUse] = []


class QAssistant(msgspec.Struct, frozen=True, gc=False):
    """The model's half of an entry: one of these."""

    response: QReply | None = msgspec.field(default=None, name="Response")
    tool_use: QReply | None = msgspec.field(default=None, name="ToolUse")


class Request(msgspec.Struct, frozen=True, gc=False):
    """The request that the model's half answers."""

    message_id: str | None = None
    request_start_timestamp_ms: float | None = None
    stream_end_timestamp_ms: float | None = None
    model_id: str | None = None


class Entry(msgspec.Struct, frozen=True, gc=False):
    """An entry of the history."""

    user: QUser | None = None
    assistant: QAssistant | None = None
    request_metadata: Request | None = None


# sessions/cli


class Data(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A call of a tool, or what it answered."""

    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    content: Any = None
    status: str | None = None


class Part(msgspec.Struct, frozen=True, gc=False):
    """A part of a line's content; its data are a text, a call or an answer."""

    kind: str | None = None
    data: str | Data | None = None


class Meta(msgspec.Struct, frozen=True, gc=False):
    """What a line says of itself."""

    timestamp: Time = None


class Said(msgspec.Struct, frozen=True, gc=False):
    """What a line is about."""

    message_id: str | None = None
    content: list[Part] = []
    meta: Meta | None = None


class Line(msgspec.Struct, frozen=True, gc=False):
    """A line of a session."""

    kind: str | None = None
    data: Said | None = None


class ModelState(msgspec.Struct, frozen=True, gc=False):
    """The model of a session."""

    model_info: ModelInfo | None = None


class TurnsOf(msgspec.Struct, frozen=True, gc=False):
    """Each of the user's turns that has ended."""

    user_turn_metadatas: list[msgspec.Raw] = []


class State(msgspec.Struct, frozen=True, gc=False):
    """Where a session stands."""

    rts_model_state: ModelState | None = None
    conversation_metadata: TurnsOf | None = None


class Companion(msgspec.Struct, frozen=True, gc=False):
    """The document beside a session's lines, rewritten whole."""

    cwd: str | None = None
    title: str | None = None
    created_at: Time = None
    session_state: State | None = None


class Metered(msgspec.Struct, frozen=True, gc=False):
    """A part of what a turn cost."""

    value: Credits | None = None
    unit: str | None = None


class Turn(msgspec.Struct, frozen=True, gc=False):
    """What one turn cost."""

    end_timestamp: Time = None
    input_token_count: Count | None = None
    output_token_count: Count | None = None
    metering_usage: list[Metered] | None = None
    message_ids: list[str | None] | None = None


class Head(msgspec.Struct, frozen=True, gc=False):
    """What is said of a session, whichever store says it."""

    session_id: str
    cwd: str | None = None
    title: str | None = None
    created_at: Time = None
    model: str | None = None
    cost: msgspec.Raw = msgspec.Raw(b"{}")
    """Of one turn, as it was written."""
    reasons: list[str] = []
    """What of the document could not be understood."""


ROW, CONVERSATION, ENTRY = Decoder(Row), Decoder(Conversation), Decoder(Entry)
LINE, COMPANION, TURN, HEAD = (
    Decoder(Line),
    Decoder(Companion),
    Decoder(Turn),
    Decoder(Head),
)
