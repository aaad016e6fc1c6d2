"""What Claude Code writes, as typed structs: the fields that become facts.

There is one `Row` for all types of record, with every field optional, because a
line names its `type` only after its message. Fields that are not declared here
are stepped over undecoded. Unless it says otherwise, a name is what the product calls
the thing, in camelCase around a message and in snake_case within it.
"""

import re
from datetime import datetime
from itertools import count, takewhile
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec.structs import replace

Whole: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Millis: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=2**53)]


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

    def arguments(self) -> str | None:
        """The call's arguments as they were written."""
        text = str(self.input, "utf-8", "replace")
        return None if text in {"", "null"} else text


Content: TypeAlias = str | list[Part | str] | None


class CacheCreation(msgspec.Struct, frozen=True, gc=False):
    """How `cache_creation_input_tokens` divides by time to live."""

    ephemeral_5m_input_tokens: Whole | None = None
    ephemeral_1h_input_tokens: Whole | None = None


class ServerToolUse(msgspec.Struct, frozen=True, gc=False):
    """What server-side tools did for the request."""

    web_search_requests: Whole | None = None


class OutputDetails(msgspec.Struct, frozen=True, gc=False):
    """Parts of `output_tokens` (newer versions)."""

    thinking_tokens: Whole | None = None


class Tokens(msgspec.Struct, frozen=True, gc=False):
    """Counters of one request: the prompt's three are disjoint."""

    input_tokens: Whole | None = None
    cache_creation_input_tokens: Whole | None = None
    cache_read_input_tokens: Whole | None = None
    cache_creation: CacheCreation | None = None
    output_tokens: Whole | None = None
    output_tokens_details: OutputDetails | None = None
    server_tool_use: ServerToolUse | None = None
    service_tier: str | None = None
    speed: str | None = None

    def cache_writes(self) -> tuple[int | None, int | None]:
        """The tokens written, and those for an hour; the total wins over the split."""
        total, split = self.cache_creation_input_tokens, self.cache_creation
        if split is None:
            return total, None
        five, hour = split.ephemeral_5m_input_tokens, split.ephemeral_1h_input_tokens
        if total is None and (five is not None or hour is not None):
            total = (five or 0) + (hour or 0)
        return total, hour if hour is None or total is None else min(hour, total)


class Iteration(Tokens, frozen=True, gc=False):
    """One request of a server-side loop."""

    type: str | None = None
    model: str | None = None


class MessageUsage(Tokens, frozen=True, gc=False):
    """The `usage` of an assistant message."""

    iterations: list[Iteration] | None = None


class Body(msgspec.Struct, frozen=True, gc=False):
    """The `message` of a row, in the shape of the Anthropic API."""

    id: str | None = None
    model: str | None = None
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
    search_count: Whole | None = None
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
    pre_tokens: Whole | None = None
    post_tokens: Whole | None = None


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
    cost_usd: float | None = msgspec.field(name="costUSD", default=None)
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


class AgentMeta(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The side file `agent-<id>.meta.json`."""

    agent_type: str | None = None
    tool_use_id: str | None = None
    cwd: str | None = None


IGNORED = frozenset(
    """
    agent-color agent-name agent-setting ended-by-model history-suppression last-prompt
    memory-mode mode permission-mode pr-link session-owner tag

    attribution-snapshot content-replacement file-history-delta file-history-snapshot
    relocated teleported-from worktree-state

    api-request api-request-blob api-request-shape cost-state

    atis-latch bridge-session data-flow-records frame-link isolation-latch observer-ref
    result started tools-used
    """.split()  # noqa: SIM905 - a list of words
)
"""Types of record that are no part of a conversation: settings and screen, edits and
moves, counters and replays (they repeat usage that rows have), other bookkeeping."""

_BLOCK_TYPES = {
    "text": "text",
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "image": "image",
    "document": "document",
    "tool_use": "tool_use",
    "server_tool_use": "tool_use",
    "mcp_tool_use": "tool_use",
    "tool_result": "tool_result",
}
_ENVELOPES = {
    "command": (
        "<bash-input>",
        "<command-args>",
        "<command-message>",
        "<command-name>",
    ),
    "local_output": (
        "<bash-stderr>",
        "<bash-stdout>",
        "<local-command-",
        "Caveat: The messages below were generated by the user while running local",
    ),
    "compaction_summary": (
        "This session is being continued from a previous conversation",
    ),
    "meta": (
        "<agent-notification>",
        "<bash-notification>",
        "<system-reminder>",
        "<task-notification>",
        "Stop hook feedback:",
        "[Request interrupted by user",
    ),
}
"""What a text is that nobody typed as a prompt, by how it starts."""

_IDE_CONTEXT = re.compile(r"(?:\s*<(ide_[a-z_]+)>.*?</\1>\s*)+", re.DOTALL)
_PERSISTED = re.compile(
    r"\s*<persisted-output>.*?Full output saved to: ([^\r\n]+)", re.DOTALL
)
_SPAWNED = re.compile(r"^agentId: ([0-9a-f]{6,20})\b", re.MULTILINE)
_EDGE = 512
_NOTICE = re.compile(
    r"<task-id>([^<]+)</task-id>.*?<tool-use-id>([^<]+)</tool-use-id>"
    r"(?!.*<summary>(?:Background command|Dynamic workflow|Monitor)\b)",
    re.DOTALL,
)


def parts_of(content: Content) -> list[Part]:
    """The blocks of a content; a bare text is one."""
    if not content:
        return []
    items = [content] if isinstance(content, str) else content
    return [i if isinstance(i, Part) else Part(type="text", text=i) for i in items]


def block_type(part: Part) -> str:
    """Our word for a block's type; each of their `*_tool_result` is a tool_result."""
    theirs = part.type or ""
    other = "tool_result" if theirs.endswith("_tool_result") else "other"
    return _BLOCK_TYPES.get(theirs, other)


def text_of(content: Any) -> str | None:
    """The texts of a content, joined by newlines; None when it has none."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for item in content if isinstance(content, list) else ():
        match item:
            case str(text) | Part(text=str(text)) | {"type": "text", "text": str(text)}:
                texts.append(text)
    return "\n".join(texts) if texts else None


def kind_of_text(text: str) -> str:
    """The kind of message that a text is, by how it starts."""
    start = text[:200].lstrip()
    for kind, starts in _ENVELOPES.items():
        if start.startswith(starts):
            return kind
    return "prompt"


def without_ide_context(part: Part) -> Part:
    """The part without what an IDE put before the prompt."""
    if part.text is None or not part.text.startswith("<ide_"):
        return part
    return replace(part, text=_IDE_CONTEXT.sub("", part.text, 1) or None)


def persisted_path(text: str | None) -> str | None:
    """Where the placeholder of a long output says that the output is."""
    found = _PERSISTED.match(text) if text else None
    return found[1].strip() if found else None


def spawned_agent(text: str | None) -> str | None:
    """The agent that a result names, on a line of its own near its start or end."""
    if not text:
        return None
    edges = text if len(text) <= 2 * _EDGE else f"{text[:_EDGE]}\n{text[-_EDGE:]}"
    found = _SPAWNED.search(edges) if "agentId: " in edges else None
    return found[1] if found else None


def agent_and_call(notice: Any) -> tuple[str, str] | None:
    """The agent that a notice is about, and its call; a shell's notice has neither."""
    found = _NOTICE.search(notice) if isinstance(notice, str) else None
    return (found[1], found[2]) if found else None


def rejoined(message: Any) -> str:
    """The text that was spread into {"0": "H", "1": "i", ...}."""
    pieces = (message.get(str(index)) for index in count())
    return "".join(takewhile(lambda piece: isinstance(piece, str), pieces))
