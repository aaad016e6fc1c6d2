"""The shapes of a Codex rollout, as far as facts are made of them, and how they read.

Every field may be absent. `type` may stand anywhere in a payload, and one field
name belongs to many kinds of payload, so there is one `Payload` for all of them:
a field that two kinds write differently has the union of both types. Fields that
no fact needs are not named; msgspec steps over them.
"""

import re
from datetime import datetime
from typing import Annotated, Any, TypeAlias, TypeVar

import msgspec

from agentlake.adapters.sdk.decode import Decoder
from agentlake.adapters.sdk.values import json_text

T = TypeVar("T")

Number: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**60)]
"""Tokens or a position; the limit keeps sums of them within 64 bits."""
Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e9)]

THREAD = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.IGNORECASE)
_TAGS = (
    r"environment_context|skill|skills_instructions|user_instructions|user_action|"
    r"user_shell_command|turn_aborted|subagent_notification|recommended_plugins|"
    r"goal_context|hook_prompt|codex_internal_context|external_[^\s>]+"
)
_INJECTED = re.compile(
    rf"\s*(?:# AGENTS\.md instructions|<(?:{_TAGS})[\s>]).*</(?:INSTRUCTIONS|{_TAGS})>\s*",
    re.IGNORECASE | re.DOTALL,
)
"""What Codex, not a human, put into a message of the user begins and ends like this."""
_EXIT = re.compile(
    r"(?:(?:Chunk ID|Wall time): .*\n)*"
    r"(?:Exit code:|Process exited with code) (-?\d{1,9})\b"
)
"""How a text begins that a command's output is: some lines about it, how it ended."""
_CATEGORY = {
    "cli": "interactive",
    "vscode": "interactive",
    "exec": "automated",
    "mcp": "automated",
}


class Part(msgspec.Struct, frozen=True, gc=False):
    """One item of a message's content, a reasoning's summary or an output."""

    type: str | None = None
    text: str | None = None

    @property
    def kind(self) -> str:
        """The block's type in our words."""
        match self.type:
            case "input_text" | "output_text" | "text":
                return "text"
            case "input_image":
                return "image"
            case "thinking":
                return "thinking"
        return "other"


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

    @property
    def text(self) -> str | None:
        """What the tool said."""
        return joined(self.content) if self.output is None else self.output

    @property
    def is_error(self) -> bool:
        """Whether anything in it says that the call failed."""
        if self.success is False or (self.metadata and self.metadata.exit_code):
            return True
        ended = None if self.metadata else _EXIT.match(self.text or "")
        return ended is not None and int(ended[1]) != 0

    @property
    def duration_ms(self) -> int | None:
        """How long the command ran."""
        seconds = self.metadata.duration_seconds if self.metadata else None
        return None if seconds is None else round(seconds * 1000)


class TokenUsage(msgspec.Struct, frozen=True, gc=False):
    """Counts as Codex writes them.

    `input_tokens` includes what was read from and written to the cache, and
    `output_tokens` includes the reasoning. What an older version does not write
    beside those two, Codex itself reads as 0.
    """

    input_tokens: Number | None = None
    cached_input_tokens: Number | None = None
    cache_write_input_tokens: Number | None = None
    output_tokens: Number | None = None
    reasoning_output_tokens: Number | None = None
    total_tokens: Number | None = None

    @property
    def counter(self) -> str:
        """All fields as one text: equal text, equal counts."""
        return "/".join(str(count or 0) for count in msgspec.structs.astuple(self))

    def disjoint(self, prefix: str = "") -> dict[str, Any]:
        """The fields of a usage in our convention, their names after `prefix`.

        Some providers report more cached than input, or reasoning beside the
        output instead of inside it; only the total gives the latter away.
        """
        prompt, output = self.input_tokens, self.output_tokens
        read, write = self.cached_input_tokens or 0, self.cache_write_input_tokens or 0
        reasoning, fresh = self.reasoning_output_tokens or 0, None
        if prompt is not None:
            read = min(read, prompt)
            fresh = max(0, prompt - read - write)
            if output is not None and self.total_tokens == prompt + output + reasoning:
                output += reasoning
        return {
            f"{prefix}input_tokens": fresh,
            f"{prefix}cache_read_tokens": read,
            f"{prefix}cache_write_tokens": write,
            f"{prefix}output_tokens": output,
            f"{prefix}reasoning_tokens": reasoning,
        }


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

    @property
    def spawn(self) -> Spawn:
        """The spawn; an empty one where there was none."""
        named = isinstance(self.subagent, Subagent) and self.subagent.thread_spawn
        return named or Spawn()

    @property
    def helper(self) -> str | None:
        """Which of Codex's own helpers this is (review, compact, guardian)."""
        inner = self.subagent or self.internal
        inner = inner.other if isinstance(inner, Subagent) else inner
        return inner if isinstance(inner, str) else json_text(inner)

    @property
    def category(self) -> str | None:
        """Who it was that wanted this thread, where that is certain."""
        return "system" if self.helper else _CATEGORY.get(self.word or "")


class HistoryBase(msgspec.Struct, frozen=True, gc=False):
    """The thread whose history a fork refers to."""

    thread_id: str | None = None


class Settings(msgspec.Struct, frozen=True, gc=False):
    """Settings that hold from here on."""

    model: str | None = None
    cwd: str | None = None


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
    subagent_history_start_ordinal: Number | None = None
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

    # event_msg, compacted
    info: Info | None = None
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

    @property
    def origin(self) -> Source:
        """`source`, which is often a lone word."""
        source = self.source
        return source if isinstance(source, Source) else Source(word=source)

    @property
    def agent(self) -> str | None:
        """What kind of agent works in this thread: its role, name or purpose."""
        spawn = self.origin.spawn
        return (
            self.agent_role
            or self.agent_type
            or spawn.agent_role
            or spawn.agent_type
            or self.agent_nickname
            or spawn.agent_nickname
            or self.origin.helper
        )

    @property
    def answer(self) -> Output:
        """An output of any age; the oldest are JSON within a text."""
        output = self.output
        if isinstance(output, str) and output.startswith("{"):
            old = _within(output, _OUTPUT)
            if old and (old.metadata or old.success is not None):
                return old
        return output if isinstance(output, Output) else Output(content=output)

    @property
    def is_error(self) -> bool | None:
        """Whether the call that an event ends has failed, where it says so."""
        if self.exit_code is not None:
            return self.exit_code != 0
        if self.success is not None:
            return not self.success
        if not isinstance(self.result, McpResult):
            return None
        answer = self.result.answer
        return bool(answer.is_error) if answer else self.result.failure is not None

    @property
    def duration_ms(self) -> int | None:
        """How long the call took that an event ends."""
        took = self.duration
        if not isinstance(took, Duration):
            return None
        return took.secs * 1000 + took.nanos // 1_000_000


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line of a rollout; `ordinal` since histories are paginated."""

    timestamp: datetime | None = None
    type: str | None = None
    ordinal: Number | None = None
    payload: Payload | None = None


class Document(msgspec.Struct, frozen=True, gc=False):
    """A rollout of the TypeScript CLI, rewritten whole."""

    session: Payload | None = None
    items: list[Payload] = []


LINE, BARE, DOCUMENT = Decoder(Line), Decoder(Payload), Decoder(Document)
_OUTPUT, _ANY = msgspec.json.Decoder(Output), msgspec.json.Decoder(msgspec.Raw)


def _within(text: str, shape: msgspec.json.Decoder[T]) -> T | None:
    """JSON within a text; None when the text is something else, which is no fault."""
    try:
        return shape.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def as_json(value: Any) -> str | None:
    """Arguments as JSON text, verbatim where Codex wrote them as such a text."""
    if isinstance(value, str) and _within(value, _ANY) is not None:
        return value
    return json_text(value)


def is_injected(text: str | None) -> bool:
    """Whether Codex wrote the text; one that only begins like it was typed."""
    return _INJECTED.fullmatch(text or "") is not None


def joined(parts: Parts) -> str | None:
    """The texts of some parts, one below the other; None when there is none."""
    if parts is None or isinstance(parts, str):
        return parts
    texts = [part.text for part in parts if part.text is not None]
    return "\n".join(texts) if texts else None
