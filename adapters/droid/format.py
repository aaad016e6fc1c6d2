"""What Droid writes, as typed structs: the fields that become facts."""

from datetime import datetime
from typing import Any

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count


class Content(msgspec.Struct, frozen=True, gc=False):
    """One block of a content, in the shape of Anthropic's API."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None


class Said(msgspec.Struct, frozen=True, gc=False):
    """What a message says."""

    role: str | None = None
    content: str | list[Content] | None = None


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line of a transcript."""

    type: str | None = None
    id: str | None = None
    timestamp: datetime | None = None
    parent_id: str | None = msgspec.field(default=None, name="parentId")
    title: str | None = None
    cwd: str | None = None
    message: Said | None = None


class Tokens(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A running total; its parts share no token."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_creation_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    thinking_tokens: Count | None = None
    total_tokens: Count | None = None


class Settings(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What is set for a session, and what it has used."""

    model: str | None = None
    provider_lock: str | None = None
    provider_lock_timestamp: datetime | None = None
    token_usage: Tokens | None = None


class Seen(msgspec.Struct, frozen=True, gc=False):
    """Settings, and what the transcript said when they were read."""

    settings: Settings | None = None
    newest_message_at: datetime | None = None
    reminded_model: str | None = None


LINE, SEEN = Decoder(Line), Decoder(Seen)
