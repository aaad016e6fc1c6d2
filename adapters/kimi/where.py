"""Where an event stands, and the facts that both programs have in common."""

from datetime import datetime
from typing import Annotated, Any, NamedTuple, TypeAlias

import msgspec

from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.moments import from_epoch
from agentlake.adapters.sdk.values import text_of
from agentlake.models.block import Block
from agentlake.models.message import Message
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult

Time: TypeAlias = Annotated[float, msgspec.Meta(gt=0, lt=1e14)] | datetime | None
"""Seconds or milliseconds since 1970, or ISO 8601."""


class Part(msgspec.Struct, frozen=True, gc=False):
    """A part of a content."""

    type: str | None = None
    text: str | None = None
    think: str | None = None


Content: TypeAlias = str | list[Part] | None


class Output(msgspec.Struct, frozen=True, gc=False):
    """What a tool returned."""

    output: Any = None
    message: str | None = None
    is_error: bool | None = None
    is_error_: bool | None = msgspec.field(default=None, name="isError")


class Where(msgspec.Struct, frozen=True, gc=False):
    """What an event does not say itself.

    `key` names it: it is made of the line's bytes, which a fork copies as they are.
    """

    session_id: str
    agent_id: str | None
    key: str
    at: datetime | None


def moment(time: Time) -> datetime | None:
    """A time, however it is written."""
    return time if isinstance(time, datetime) else from_epoch(time)


def message(
    where: Where, role: str, kind: str, parts: list[Part], label: str | None = None
) -> Facts:
    """One event is one message: no event knows which others belong to its reply."""
    yield Message(
        session_id=where.session_id,
        agent_id=where.agent_id,
        message_id=where.key,
        role=role,
        kind=kind,
        sent_at=where.at,
        label=label,
    )
    for index, part in enumerate(parts):
        text, thought = part.text, part.think
        yield Block(
            session_id=where.session_id,
            agent_id=where.agent_id,
            message_id=where.key,
            block_index=index,
            type=_block_type(part),
            text=thought if text is None else text,
        )


def _block_type(part: Part) -> str:
    if part.type in ("think", "thinking") or part.think is not None:
        return "thinking"
    if part.text is not None:
        return "text"
    return "image" if (part.type or "").startswith("image") else "other"


def response(where: Where, part: Part) -> Facts:
    """A part of a reply."""
    kind = "thinking" if _block_type(part) == "thinking" else "response"
    return message(where, "assistant", kind, [part])


def call(
    where: Where, call_id: str | None, name: str | None, given: str | None
) -> Facts:
    """What the model asked a tool to do, as a message of its own."""
    if not call_id:
        yield Reject("a tool call without id")
        return
    yield from message(where, "assistant", "response", [])
    yield Block(
        session_id=where.session_id,
        agent_id=where.agent_id,
        message_id=where.key,
        block_index=0,
        type="tool_use",
        tool_call_id=call_id,
    )
    yield ToolCall(
        session_id=where.session_id,
        agent_id=where.agent_id,
        message_id=where.key,
        tool_call_id=call_id,
        name=name,
        input=given,
        called_at=where.at,
    )


def result(where: Where, call_id: str | None, output: Output | None) -> Facts:
    """What a tool answered; of an output of parts, the texts."""
    if not call_id:
        yield Reject("a tool result without the id of its call")
        return
    output = output or Output()
    content = output.output
    text = output.message if content is None else text_of(content)
    failed = output.is_error if output.is_error is not None else output.is_error_
    yield ToolResult(
        session_id=where.session_id,
        agent_id=where.agent_id,
        tool_call_id=call_id,
        text=text,
        is_error=failed,
        finished_at=where.at,
    )


class Counts(NamedTuple):
    """Four buckets that share no token; the output includes the thinking."""

    input: int | None
    cache_read: int | None
    cache_write: int | None
    output: int | None

    @property
    def are_nothing(self) -> bool:
        """Whether no request was made, or none was answered."""
        return not any(self)

    @property
    def text(self) -> str:
        """To tell two calls of one moment apart."""
        return "/".join("" if part is None else str(part) for part in self)
