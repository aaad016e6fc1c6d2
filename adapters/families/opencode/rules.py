"""How what OpenCode writes reads: small total functions, no facts yet."""

import re
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

from agentlake.adapters.families.opencode.format import (
    MODEL,
    Cache,
    Error,
    Message,
    Model,
    Part,
    Session,
    Tokens,
    ToolState,
)
from agentlake.adapters.sdk.decode import encode
from agentlake.adapters.sdk.values import json_text, named

TREE, V1, V2 = 1, 2, 3
PRECEDENCE = (TREE, V1, V2)
"""The generations, the least exact first."""

_FORK = re.compile(r" \(fork #\d+\)$")
_UNTITLED = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT.*")
_SUBAGENT = re.compile(r" \(@(?P<agent>[^()\s]+) subagent\)$")
_VERSION = re.compile(r"(\d+)\.(\d+)")
_DISJOINT_FROM = (1, 4)
"""Since this version the reasoning is no longer a part of the output."""
_GOOGLE = ("google", "gemini")
"""Providers whose output never included the reasoning."""


def moment(millis: float | None) -> datetime | None:
    """A time of the disk; 0 is none."""
    if not millis:
        return None
    return datetime.fromtimestamp(millis / 1000, UTC)


class Counts(NamedTuple):
    """Counts in our convention."""

    input: int | None
    cache_read: int | None
    cache_write: int | None
    output: int | None
    reasoning: int | None


def counts(tokens: Tokens, *, is_disjoint: bool) -> Counts:
    """Tokens in our convention: output with the reasoning.

    The provider's total tells whether it is a part of the output already; where there
    is no total that fits, `is_disjoint` does.
    """
    output, reasoning = _positive(tokens.output), _positive(tokens.reasoning)
    if reasoning:
        said = [tokens.input, output, tokens.cache.read, tokens.cache.write]
        base = sum(_positive(one) or 0 for one in said)
        if tokens.total == base + reasoning:
            is_disjoint = True
        elif tokens.total == base:
            is_disjoint = False
        if is_disjoint:
            output = (output or 0) + reasoning
    return Counts(
        _positive(tokens.input),
        _positive(tokens.cache.read),
        _positive(tokens.cache.write),
        output,
        reasoning,
    )


def _positive(number: int | None) -> int | None:
    return None if number is None else max(0, number)


def is_zero(tokens: Tokens) -> bool:
    """Whether nothing was counted."""
    cache = tokens.cache
    said = (tokens.input, tokens.output, tokens.reasoning, cache.read, cache.write)
    return not any(said)


def excludes_reasoning(version: str | None, provider: str | None) -> bool:
    """Whether the output of a session that this version began excludes reasoning."""
    found = _VERSION.match(version or "")
    if found and (int(found[1]), int(found[2])) >= _DISJOINT_FROM:
        return True
    return (provider or "").startswith(_GOOGLE)


def cost(usd: float | None) -> float | None:
    """The cost as computed by the agent; it writes 0 where it knows no price."""
    return usd if usd is not None and usd > 0 else None


def fingerprint(message: Message, provider: str | None, model: str | None) -> str:
    """What the copies of an answer have in common: a fork gives them new ids."""
    tokens = message.tokens or Tokens()
    said = (
        message.time.created,
        message.time.completed,
        provider,
        model,
        _numbers(tokens),
        message.cost,
        message.agent or message.mode,
    )
    return sha256(encode(said)).hexdigest()[:24]


def _numbers(tokens: Tokens) -> tuple[int | None, ...]:
    cache: Cache = tokens.cache
    return tokens.input, tokens.output, tokens.reasoning, cache.read, cache.write


def model_of(message: Message) -> tuple[str | None, str | None]:
    """Provider and model of an answer, in the names of either generation."""
    inner = message.model or Model()
    return (
        named(message.provider_id, inner.provider_id),
        named(message.model_id, inner.id, inner.model_id),
    )


def model_of_session(session: Session) -> Model:
    """The model that was chosen last, where the row says it: as JSON, or its name."""
    match session.model:
        case str(text) if text.lstrip().startswith("{"):
            return MODEL.within(text, Model())[0]
        case str(text):
            return Model(id=text)
        case _:
            return Model()


def folder(session: Session) -> str | None:
    """Where a session works; what has no project of its own is in the top folder."""
    worktree = named(session.worktree)
    return named(session.directory) or (None if worktree == "/" else worktree)


def title(session: Session) -> str | None:
    """The title, unless it is the one that every session begins with."""
    text = session.title
    return None if not text or _UNTITLED.fullmatch(text) else text


def parent(session: Session) -> tuple[str | None, str | None]:
    """The session above and the relation to it; a fork in V1 does not name it."""
    above = session.parent_id or session.parent
    if above:
        return above, "subagent"
    if session.fork_session_id:
        return session.fork_session_id, "fork"
    is_fork = session.task_type == "fork" or _FORK.search(session.title or "")
    return None, "fork" if is_fork else None


def agent_type(session: Session) -> str | None:
    """The kind of a subagent: what its session says, else what its title ends with."""
    if not (session.parent_id or session.parent):
        return None
    named = _SUBAGENT.search(session.title or "")
    return session.agent or (named["agent"] if named else None)


def error_text(error: Error | None) -> str | None:
    """What an error says, or at least its name."""
    if error is None:
        return None
    inner = error.data.message if error.data else None
    return error.message or inner or error.name or error.type


def is_typed(part: Part) -> bool:
    """Whether a person wrote this text, and the model saw it."""
    return not (part.synthetic or part.ignored)


def output(state: ToolState) -> str | None:
    """What a tool answered, as text: its output, or its error."""
    texts = [item.text for item in state.content if item.text is not None]
    said: Any = "\n".join(texts) if texts else state.output
    if state.status == "error" and state.error is not None:
        said = state.error
    if isinstance(said, dict) and isinstance(said.get("message"), str):
        said = said["message"]
    return said if isinstance(said, str) else json_text(said)


def has_failed(tool: str | None, state: ToolState) -> bool:
    """Whether a tool that has ended did not do what it was asked.

    `invalid` stands for a call that the model got wrong.
    """
    if state.status == "error" or tool == "invalid":
        return True
    told = state.metadata or state.structured
    code = told.exit if told else None
    return isinstance(code, int | float) and code != 0
