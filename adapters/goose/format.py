"""What Goose writes, as typed structs: the fields that become facts."""

from datetime import datetime
from typing import Any

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count, Usd


class Config(msgspec.Struct, frozen=True, gc=False):
    """The part of model_config_json that names the model."""

    model_name: str | None = None


class Head(msgspec.Struct, frozen=True, gc=False):
    """A row of `sessions`, or the first line of a file."""

    id: str | None = None
    name: str | None = None
    description: str | None = None
    user_set_name: Any = None
    session_type: str | None = None
    working_dir: str | None = None
    created_at: str | None = None
    updated_at: datetime | None = None
    schedule_id: str | None = None
    provider_name: str | None = None
    model_config_json: str | None = None
    parent_session_id: str | None = None
    parent_created_at: str | None = None
    accumulated_input_tokens: Count | None = None
    accumulated_output_tokens: Count | None = None
    accumulated_cache_read_tokens: Count | None = None
    accumulated_cache_write_tokens: Count | None = None
    accumulated_cost: Usd | None = None


class Ledger(msgspec.Struct, frozen=True, gc=False):
    """A row of `usage_ledger`: one call, and what its session says of it."""

    id: int | None = None
    session_id: str | None = None
    session_created_at: str | None = None
    provider_name: str | None = None
    model_config_json: str | None = None
    created_timestamp: float | None = None
    model: str | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    cost: Usd | None = None
    is_compaction: Any = None


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """A Rust Result: the call or the answer, or an error in its place."""

    status: str | None = None
    value: Any = None
    error: str | None = None


class Part(msgspec.Struct, frozen=True, gc=False):
    """One block of a message."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    msg: str | None = None
    id: str | None = None
    call: Outcome | None = msgspec.field(default=None, name="toolCall")
    result: Outcome | None = msgspec.field(default=None, name="toolResult")


class Seen(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Who sees a message; what the agent no longer sees is history all the same."""

    user_visible: bool = True


class MessageRow(msgspec.Struct, frozen=True, gc=False):
    """A row of `messages`, and when its session was created."""

    session_id: str | None = None
    session_created_at: str | None = None
    message_id: str | None = None
    role: str | None = None
    created_timestamp: float | None = None
    content_json: str | None = None
    metadata_json: str | None = None


class Line(Head, frozen=True, gc=False):
    """A line of a file: a message has a role, the first line has none."""

    role: str | None = None
    created: float | None = None
    content: list[Part] = []


HEAD, LEDGER, MESSAGE = Decoder(Head), Decoder(Ledger), Decoder(MessageRow)
LINE, CONFIG = Decoder(Line), Decoder(Config)
PARTS, SEEN = Decoder(list[Part]), Decoder(Seen)

BLOCK_TYPES = {
    "text": "text",
    "thinking": "thinking",
    "redactedThinking": "thinking",
    "image": "image",
    "toolRequest": "tool_use",
    "frontendToolRequest": "tool_use",
    "toolResponse": "tool_result",
}
CATEGORIES = {
    "user": "interactive",
    "terminal": "interactive",
    "scheduled": "cron",
    "hidden": "system",
}
