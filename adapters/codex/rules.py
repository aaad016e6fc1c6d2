"""How what Codex writes reads: small total functions, no facts yet."""

import re
from typing import Any, NamedTuple, TypeVar

import msgspec

from agentlake.adapters.codex.format import (
    Duration,
    McpResult,
    Output,
    Part,
    Parts,
    Payload,
    Source,
    Spawn,
    Subagent,
    TokenUsage,
)
from agentlake.adapters.sdk.values import json_text

T = TypeVar("T")

THREAD = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
BLOCK_TYPES = {
    "input_text": "text",
    "output_text": "text",
    "text": "text",
    "input_image": "image",
    "thinking": "thinking",
}
_CATEGORY = {
    "cli": "interactive",
    "vscode": "interactive",
    "exec": "automated",
    "mcp": "automated",
}
_TAGS = (
    r"environment_context|skill|skills_instructions|user_instructions|user_action|"
    r"user_shell_command|turn_aborted|subagent_notification|recommended_plugins|"
    r"goal_context|hook_prompt|codex_internal_context|external_[^\s>]+"
)
_INJECTED = re.compile(
    rf"\s*(?:# AGENTS\.md instructions|<(?:{_TAGS})[\s>])"
    rf".*</(?:INSTRUCTIONS|{_TAGS})>\s*",
    re.IGNORECASE | re.DOTALL,
)
"""What Codex, not a human, put into a message of the user begins and ends like this."""
_FAILED = re.compile(
    r"\s*(?:error[=:] ?)?(?:"
    r"(?:apply_patch|exec_command|write_stdin)(?: verification)? failed|"
    r"(?:(?:exec|shell) )?(?:command )?(?:failed in sandbox|execution error)|"
    r"(?:(?:exec )?command |patch |(?:MCP )?tool call )?(?:was )?rejected by user|"
    r"user (?:rejected|cancelled) MCP tool call|aborted by user|Script failed|"
    r"failed to parse function arguments|unsupported (?:custom tool )?call: )",
    re.IGNORECASE,
)
"""How a text begins that Codex writes in place of an output: only words tell that the
call failed."""
_EXIT = re.compile(
    r"(?:(?:Chunk ID|Wall time): .*\n)*"
    r"(?:Exit code:|Process exited with code) (-?\d{1,9})\b"
)
"""How a text begins that a command's output is: some lines about it, how it ended."""
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


def joined(parts: Parts) -> str | None:
    """The texts of some parts, one below the other; None when there is none."""
    if parts is None or isinstance(parts, str):
        return parts
    texts = [part.text for part in parts if part.text is not None]
    return "\n".join(texts) if texts else None


def unsealed(part: Part) -> Part:
    """The part with what is sealed in name only: real ciphers have no spaces."""
    if part.type != "encrypted_content":
        return part
    text = part.encrypted_content or ""
    return Part("text", text) if " " in text.strip() else Part("sealed")


def is_injected(text: str | None) -> bool:
    """Whether Codex wrote the text; one that only begins like it was typed."""
    return _INJECTED.fullmatch(text or "") is not None


class Disjoint(NamedTuple):
    """Counts in our convention: the prompt's three do not overlap."""

    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None


def disjoint(usage: TokenUsage | None) -> Disjoint:
    """A usage in our convention; nothing of one that is not there.

    Some providers report more cached than input, or reasoning beside the output
    instead of inside it; only the total gives the latter away.
    """
    if usage is None:
        return Disjoint()
    prompt, output = usage.input_tokens, usage.output_tokens
    read, write = usage.cached_input_tokens or 0, usage.cache_write_input_tokens or 0
    reasoning = usage.reasoning_output_tokens or 0
    if prompt is None:
        return Disjoint(None, read, write, output, reasoning)
    read = min(read, prompt)
    if output is not None and usage.total_tokens == prompt + output + reasoning:
        output += reasoning
    return Disjoint(max(0, prompt - read - write), read, write, output, reasoning)


def counter(usage: TokenUsage | None) -> str | None:
    """All counts as one text: equal text, equal counts."""
    if usage is None:
        return None
    return (
        f"{usage.input_tokens or 0}/{usage.cached_input_tokens or 0}"
        f"/{usage.cache_write_input_tokens or 0}/{usage.output_tokens or 0}"
        f"/{usage.reasoning_output_tokens or 0}/{usage.total_tokens or 0}"
    )


def origin(meta: Payload) -> Source:
    """What began a thread; often it is written as a lone word."""
    source = meta.source
    return source if isinstance(source, Source) else Source(word=source)


def spawn(began: Source) -> Spawn:
    """The spawn by a parent's call; an empty one where there was none."""
    subagent = began.subagent
    named = subagent.thread_spawn if isinstance(subagent, Subagent) else None
    return named or Spawn()


def helper(began: Source) -> str | None:
    """Which of Codex's own helpers this is (review, compact, guardian)."""
    inner = began.subagent or began.internal
    inner = inner.other if isinstance(inner, Subagent) else inner
    return inner if isinstance(inner, str) else json_text(inner)


def category(began: Source) -> str | None:
    """Who it was that wanted this thread, where that is certain."""
    return "system" if helper(began) else _CATEGORY.get(began.word or "")


def agent_type(meta: Payload) -> str | None:
    """What kind of agent works in this thread: its role, name or purpose."""
    began = origin(meta)
    spawned = spawn(began)
    return (
        meta.agent_role
        or meta.agent_type
        or spawned.agent_role
        or spawned.agent_type
        or meta.agent_nickname
        or spawned.agent_nickname
        or helper(began)
    )


class Answer(NamedTuple):
    """What a tool said, whether that is a failure, and how long it took."""

    text: str | None
    is_error: bool
    duration_ms: int | None


def answer(item: Payload) -> Answer:
    """An output of any age; the oldest are JSON within a text."""
    output = item.output
    if isinstance(output, str):
        old = _within(output, _OUTPUT) if output.startswith("{") else None
        if old is None or not (old.metadata or old.success is not None):
            return Answer(output, _says_failed(output), None)
        output = old
    if not isinstance(output, Output):
        text = joined(output)
        return Answer(text, _says_failed(text), None)
    text = joined(output.content) if output.output is None else output.output
    if output.metadata is None:
        return Answer(text, output.success is False or _says_failed(text), None)
    seconds = output.metadata.duration_seconds
    return Answer(
        text,
        output.success is False or bool(output.metadata.exit_code),
        None if seconds is None else round(seconds * 1000),
    )


def _says_failed(text: str | None) -> bool:
    if not text:
        return False
    if ended := _EXIT.match(text):
        return int(ended[1]) != 0
    return _FAILED.match(text) is not None


def has_failed(event: Payload) -> bool | None:
    """Whether the call that an event ends has failed, where it says so."""
    if event.exit_code is not None:
        return event.exit_code != 0
    if event.success is not None:
        return not event.success
    if not isinstance(event.result, McpResult):
        return None
    answered = event.result.answer
    return bool(answered.is_error) if answered else event.result.failure is not None


def duration_ms(event: Payload) -> int | None:
    """How long the call took that an event ends."""
    took = event.duration
    if not isinstance(took, Duration):
        return None
    return took.secs * 1000 + took.nanos // 1_000_000
