"""What Cursor writes, as typed structs: the fields that become facts."""

from typing import Annotated, Any, TypeAlias

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count

Time: TypeAlias = int | float | str | None
Cents: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e8)]

EDITOR, COMMAND_LINE, LINES, TEXT = 4, 3, 2, 1
"""Precedence of each store, where several hold one conversation."""


class Row(msgspec.Struct, frozen=True, gc=False):
    """A row of `cursorDiskKV`; of a message without a time, that of its chat."""

    key: str = ""
    value: str | None = None
    chat_created_at: Time = None


class Tokens(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a request used, its cached input included."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None


class Model(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A model that is set, or was used."""

    model_name: str | None = None

    @property
    def name(self) -> str | None:
        """Its name; `default` means that Cursor chose one, and not which."""
        return None if self.model_name == "default" else self.model_name or None


class Thought(msgspec.Struct, frozen=True, gc=False):
    """What the model thought."""

    text: str | None = None


class Tool(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A call of a tool with its result; both are JSON within a text."""

    name: str | None = None
    tool_call_id: str | None = None
    status: str | None = None
    raw_args: Any = None
    params: Any = None
    result: Any = None


class Bubble(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A message of the editor: of the user (1), or a piece of an answer (2)."""

    type: int | str | None = None
    bubble_id: str | None = None
    text: str | None = None
    rich_text: Any = None
    created_at: Time = None
    request_id: str | None = None
    token_count: Tokens | None = None
    model_info: Model | None = None
    thinking: Thought | None = None
    workspace_uris: list[str] | None = None
    workspace_project_dir: str | None = None
    tool_former_data: Tool | None = None


class Header(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The place of a message in its chat."""

    bubble_id: str | None = None


class Cost(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What one model has cost in a chat."""

    cost_in_cents: Cents | None = None


class Composer(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A chat of the editor. Old ones hold their messages themselves."""

    name: str | None = None
    created_at: Time = None
    last_updated_at: Time = None
    model_config: Model | None = None
    full_conversation_headers_only: list[Header] | None = None
    conversation: list[Bubble] | None = None
    conversation_map: dict[str, Bubble] | None = None
    sub_composer_ids: list[str] | None = None
    latest_conversation_summary: Any = None
    usage_data: dict[str, Cost] | None = None


class OldBubble(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A message of a chat before there were composers."""

    type: str | int | None = None
    id: str | None = None
    text: str | None = None
    raw_text: str | None = None


class Tab(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A chat before there were composers."""

    tab_id: str | None = None
    chat_title: str | None = None
    bubbles: list[OldBubble] | None = None


class Listed(Composer, frozen=True, gc=False, rename="camel"):
    """A chat in the list that a workspace keeps; in 2024 with all its messages."""

    composer_id: str | None = None


class Kept(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a workspace keeps under one of two keys: its chats, or which they are."""

    all_composers: list[Listed] | None = None
    tabs: list[Tab] | None = None


class Workspace(msgspec.Struct, frozen=True, gc=False):
    """One of these keys, with the folder that the workspace has open."""

    folder: str | None = None
    value: str | None = None


class Meta(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a database of the command line says of its session."""

    latest_root_blob_id: str | None = None
    name: str | None = None
    created_at: Time = None
    last_used_model: str | None = None


class State(msgspec.Struct, frozen=True, gc=False):
    """The same, and what the root of its messages says."""

    meta: Meta = Meta()
    workspaces: list[str] = []
    subagents: list[str] = []
    is_compacted: bool = False


class About(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What stands beside such a database."""

    created_at_ms: Time = None
    updated_at_ms: Time = None
    is_subagent: bool | None = None
    title: str | None = None
    cwd: str | None = None


class Part(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A piece of a message, in the shape of the AI SDK."""

    type: str | None = None
    text: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    args: Any = None
    result: Any = None
    is_error: bool | None = None


class OfCursor(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What Cursor adds to a message."""

    model_name: str | None = None
    request_id: str | None = None


class Added(msgspec.Struct, frozen=True, gc=False):
    """What is added to a message, by whom."""

    cursor: OfCursor | None = None


class Said(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A message of the command line."""

    role: str | None = None
    content: str | list[Part] | None = None
    provider_options: Added | None = None


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A piece of a line of a transcript, in the shape of Anthropic's API."""

    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None


class Content(msgspec.Struct, frozen=True, gc=False):
    """What a line says."""

    content: str | list[Piece] | None = None


class Line(msgspec.Struct, frozen=True, gc=False):
    """A line of a transcript; one without a role only marks the end of a turn."""

    role: str | None = None
    message: Content | None = None


class Title(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A row of `conversation_summaries`."""

    conversation_id: str | None = None
    title: str | None = None
    model: str | None = None
    updated_at: Time = None


ROW, BUBBLE, COMPOSER = Decoder(Row), Decoder(Bubble), Decoder(Composer)
WORKSPACE, KEPT = Decoder(Workspace), Decoder(Kept)
META, STATE, ABOUT, SAID = Decoder(Meta), Decoder(State), Decoder(About), Decoder(Said)
LINE, TITLE = Decoder(Line), Decoder(Title)
