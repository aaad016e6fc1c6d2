"""What Claude Code writes, as typed structs: the fields that become facts.

There is one `Row` for all types of record, with every field optional, because a
line names its `type` only after its message. Fields that are not declared here are
stepped over undecoded; they stand in the order of the lines, which msgspec follows
fastest. Unless it says otherwise, a name is what the product calls the thing, in
camelCase around a message and in snake_case within it.
"""

from datetime import datetime
from typing import Annotated, Any, TypeAlias

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.models.fact import Count, Usd

Millis: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=2**40)]


class Part(msgspec.Struct, frozen=True, gc=False):
    """One block of a message's content, or of a tool result's."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw()
    """Verbatim: nothing of a call's arguments is decoded."""
    tool_use_id: str | None = None
    content: "str | list[Part | str] | Part | None" = None
    is_error: bool | None = None


Content: TypeAlias = str | list[Part | str] | None


class CacheCreation(msgspec.Struct, frozen=True, gc=False):
    """How `cache_creation_input_tokens` divides by time to live."""

    ephemeral_5m_input_tokens: Count | None = None
    ephemeral_1h_input_tokens: Count | None = None


class ServerToolUse(msgspec.Struct, frozen=True, gc=False):
    """What server-side tools did for the request."""

    web_search_requests: Count | None = None


class OutputDetails(msgspec.Struct, frozen=True, gc=False):
    """Parts of `output_tokens` (newer versions)."""

    thinking_tokens: Count | None = None


class Tokens(msgspec.Struct, frozen=True, gc=False):
    """Counters of one request: the prompt's three are disjoint."""

    input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation: CacheCreation | None = None
    output_tokens: Count | None = None
    output_tokens_details: OutputDetails | None = None
    server_tool_use: ServerToolUse | None = None
    service_tier: str | None = None
    speed: str | None = None
    inference_geo: str | None = None


class Iteration(Tokens, frozen=True, gc=False):
    """One request of a server-side loop."""

    type: str | None = None
    model: str | None = None


class MessageUsage(Tokens, frozen=True, gc=False):
    """The `usage` of an assistant message."""

    iterations: list[Iteration] | None = None


class ModelTotal(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What the program itself counted of one model, in a `cost-state`."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    web_search_requests: Count | None = None
    cost_usd: Usd | None = msgspec.field(name="costUSD", default=None)


class Body(msgspec.Struct, frozen=True, gc=False):
    """The `message` of a row, in the shape of the Anthropic API."""

    model: str | None = None
    id: str | None = None
    content: Content = None
    stop_reason: str | None = None
    usage: MessageUsage | None = None
    spread: str | None = msgspec.field(name="0", default=None)
    """Present when a text was spread into an object: {"0": "H", "1": "i", ...}."""


class ToolUseResult(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The structured result of a tool; its shape depends on the tool."""

    agent_id: str | None = None
    duration_ms: Millis | None = None
    total_duration_ms: Millis | None = None
    search_count: Count | None = None
    persisted_output_path: str | None = None


class Attachment(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Context that was put beside the conversation, or a prompt that had to wait."""

    type: str | None = None
    prompt: Content = None
    command_mode: str | None = None
    is_meta: bool | None = None
    content: Any = None


class Progress(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The `data` of a progress row; an agent's holds a whole row of it."""

    type: str | None = None
    message: "Row | str | None" = None
    agent_id: str | None = None


class CompactMetadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a compaction says of itself."""

    trigger: str | None = None
    pre_tokens: Count | None = None
    post_tokens: Count | None = None


class Origin(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Who sent a user row; absent means a human."""

    kind: str | None = None


class ForkedFrom(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The row that a branch copied."""

    session_id: str | None = None


class Row(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One line of a transcript."""

    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    is_sidechain: bool | None = None
    agent_id: str | None = None
    attachment: Attachment | None = None
    type: str | None = None
    subtype: str | None = None
    message: Body | None = None
    content: Any = None
    """Of a system row or a queue operation."""
    data: Progress | None = None
    request_id: str | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    compact_metadata: CompactMetadata | None = None
    microcompact_metadata: CompactMetadata | None = None
    error: Any = None
    is_api_error_message: bool | None = None
    parent_tool_use_id: str | None = msgspec.field(name="parentToolUseID", default=None)
    uuid: str | None = None
    timestamp: datetime | None = None
    cost_usd: Usd | None = msgspec.field(name="costUSD", default=None)
    model_usage: dict[str, ModelTotal] | None = None
    tool_use_result: ToolUseResult | str | list[msgspec.Raw] | None = None
    origin: Origin | None = None
    entrypoint: str | None = None
    cwd: str | None = None
    session_id: str | None = None
    version: str | None = None
    git_branch: str | None = None
    team_name: str | None = None
    attribution_agent: str | None = None
    request_session_id: str | None = None
    forked_from: ForkedFrom | None = None
    session_kind: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    summary: str | None = None
    leaf_uuid: str | None = None
    continued_in_session_id: str | None = None
    sessions: Any = None
    parent_session_id: str | None = None


class SideFile(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The side file `agent-<id>.meta.json`."""

    agent_type: str | None = None
    tool_use_id: str | None = None
    cwd: str | None = None


class SpawnInput(msgspec.Struct, frozen=True, gc=False):
    """What a call that spawns a subagent asks for."""

    subagent_type: str | None = None


ROW, SIDE_FILE = Decoder(Row), Decoder(SideFile)
SPAWN_INPUT = Decoder(SpawnInput)

# One name a line would be longer than all that is not ignored.
IGNORED = frozenset(
    """
    agent-color agent-name agent-setting ended-by-model history-suppression last-prompt
    memory-mode mode permission-mode pr-link session-owner tag

    attribution-snapshot content-replacement file-history-delta file-history-snapshot
    relocated teleported-from worktree-state

    api-request api-request-blob api-request-shape

    atis-latch bridge-session data-flow-records frame-link isolation-latch observer-ref
    result started tools-used
    """.split()  # noqa: SIM905
)
"""Types of record that are no part of a conversation: settings and screen, edits and
moves, counters and replays (they repeat usage that rows have), other bookkeeping."""
