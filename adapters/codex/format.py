"""What Codex writes, as typed structs: the fields that become facts.

Every field may be absent. `type` may stand anywhere in a payload, and one field
name belongs to many kinds of payload, so there is one `Payload` for all of them:
a field that two kinds write differently has the union of both types. Fields that
no fact needs are not named; msgspec steps over them.
"""

from datetime import datetime
from typing import Annotated, Any, TypeAlias

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count

Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e9)]


class Part(msgspec.Struct, frozen=True, gc=False):
    """One item of a message's content, a reasoning's summary or an output."""

    type: str | None = None
    text: str | None = None
    encrypted_content: str | None = None


Parts: TypeAlias = str | list[Part] | None


class OutputMeta(msgspec.Struct, frozen=True, gc=False):
    """How a command ended; only the older outputs have it."""

    exit_code: int | None = None
    duration_seconds: Seconds | None = None


class Output(msgspec.Struct, frozen=True, gc=False):
    """An older output: with `output` and `metadata`, or `content` and `success`."""

    output: str | None = None
    metadata: OutputMeta | None = None
    content: Parts = None
    success: bool | None = None


class TokenUsage(msgspec.Struct, frozen=True, gc=False):
    """Counts as Codex writes them.

    `input_tokens` includes what was read from and written to the cache, and
    `output_tokens` includes the reasoning. What an older version does not write
    beside those two, Codex itself reads as 0.
    """

    input_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    cache_write_input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_output_tokens: Count | None = None
    total_tokens: Count | None = None


class Info(msgspec.Struct, frozen=True, gc=False):
    """The counters of a token_count event."""

    total_token_usage: TokenUsage | None = None
    last_token_usage: TokenUsage | None = None


class Git(msgspec.Struct, frozen=True, gc=False):
    """State of the repository when the thread began."""

    commit_hash: str | None = None
    branch: str | None = None
    repository_url: str | None = None


class Spawn(msgspec.Struct, frozen=True, gc=False):
    """The spawn of a subagent by its parent's call."""

    parent_thread_id: str | None = None
    agent_nickname: str | None = None
    agent_role: str | None = None
    agent_type: str | None = None


class Subagent(msgspec.Struct, frozen=True, gc=False):
    """A subagent of a kind that has a value."""

    thread_spawn: Spawn | None = None
    other: str | None = None


class Source(msgspec.Struct, frozen=True, gc=False):
    """What began a thread; a lone word is decoded into `word`."""

    word: str | None = None
    subagent: str | Subagent | None = None
    internal: Any = None


class HistoryBase(msgspec.Struct, frozen=True, gc=False):
    """The thread whose history a fork refers to."""

    thread_id: str | None = None


class ModelInfo(msgspec.Struct, frozen=True, gc=False):
    """What some clients write of a turn's model instead of its name."""

    slug: str | None = None


class Settings(msgspec.Struct, frozen=True, gc=False):
    """Settings that hold from here on."""

    model: str | None = None
    cwd: str | None = None
    service_tier: str | None = None


class Duration(msgspec.Struct, frozen=True, gc=False):
    """A Rust Duration."""

    secs: Annotated[int, msgspec.Meta(ge=0, le=10**9)] = 0
    nanos: Annotated[int, msgspec.Meta(ge=0, le=10**9)] = 0


class McpAnswer(msgspec.Struct, frozen=True, gc=False):
    """The answer of an MCP server that could be asked."""

    is_error: bool | None = msgspec.field(default=None, name="isError")


class McpResult(msgspec.Struct, frozen=True, gc=False):
    """A Rust Result: the answer, or why there is none."""

    answer: McpAnswer | None = msgspec.field(default=None, name="Ok")
    failure: Any = msgspec.field(default=None, name="Err")


class Passthrough(msgspec.Struct, frozen=True, gc=False):
    """What the newest versions keep beside a response item."""

    turn_id: str | None = None


class Payload(msgspec.Struct, frozen=True, gc=False):
    """What a line is about; also a whole line of the first generation."""

    type: str | None = None
    id: str | None = None
    turn_id: str | None = None
    cwd: str | None = None
    model: str | None = None
    model_info: ModelInfo | None = None

    # session_meta
    timestamp: datetime | None = None
    git: Git | None = None
    cli_version: str | None = None
    source: str | Source | None = None
    thread_source: str | None = None
    model_provider: str | None = None
    parent_thread_id: str | None = None
    forked_from_id: str | None = None
    history_base: HistoryBase | None = None
    subagent_history_start_ordinal: Count | None = None
    agent_role: str | None = None
    agent_type: str | None = None
    agent_nickname: str | None = None

    # response_item
    role: str | None = None
    content: Parts = None
    summary: Parts = None
    name: str | None = None
    namespace: str | None = None
    arguments: Any = None
    input: Any = None
    action: Any = None
    status: Any = None
    call_id: str | None = None
    output: str | list[Part] | Output | None = None
    internal_chat_message_metadata_passthrough: Passthrough | None = None
    author: str | None = None

    # event_msg, compacted
    info: Info | None = None
    service_tier: str | None = None
    message: str | None = None
    thread_settings: Settings | None = None
    thread_id: str | None = None
    thread_name: str | None = None
    duration: Duration | str | float | None = None
    exit_code: int | None = None
    success: bool | None = None
    result: str | McpResult | None = None
    agent_thread_id: str | None = None
    new_thread_id: str | None = None
    event_id: str | None = None
    kind: Any = None
    trigger: str | None = None

    # token_usage_record
    response_id: str | None = None
    usage: TokenUsage | None = None


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line of a rollout; `ordinal` since histories are paginated."""

    timestamp: datetime | None = None
    type: str | None = None
    ordinal: Count | None = None
    payload: Payload | None = None


class Document(msgspec.Struct, frozen=True, gc=False):
    """A rollout of the TypeScript CLI, rewritten whole."""

    session: Payload | None = None
    items: list[Payload] = []


LINE, BARE, DOCUMENT = Decoder(Line), Decoder(Payload), Decoder(Document)

# One name a line would be longer than all that is not ignored.
IGNORED = frozenset(
    """
    additional_tools agent_reasoning collab_waiting_end compaction
    compaction_summary context_compacted context_compaction dynamic_tools_updated
    entered_review_mode exited_review_mode ghost_snapshot guardian_assessment
    inter_agent_communication inter_agent_communication_metadata item_completed
    realtime_item retained_context security_risk_score thread_goal_updated
    thread_rolled_back view_image_tool_call world_state
    """.split()  # noqa: SIM905
)
"""Kinds with no fact of their own, passed over; others are counted as unknown."""
