"""Facts of the conversation: messages, calls of tools and their results."""

from agentlake.adapters.codex import rules
from agentlake.adapters.codex.format import Part, Payload
from agentlake.adapters.codex.where import Where
from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.values import json_text, parts_of
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.message import Message
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult

TOOLS = {
    "local_shell_call": "local_shell",
    "web_search_call": "web_search",
    "tool_search_call": "tool_search",
    "image_generation_call": "image_generation",
}
HOSTED = ("web_search_call", "image_generation_call")


def message(where: Where, item: Payload) -> Facts:
    """A user's message counts as typed unless Codex put in every part of it."""
    parts = parts_of(item.content, Part)
    role, kind = "system", "meta"
    if item.role == "assistant":
        role, kind = "assistant", "response"
    elif item.role == "user":
        injected = parts and all(rules.is_injected(part.text) for part in parts)
        role, kind = "user", "meta" if injected else "prompt"
    return _texts(where, item, parts, role, kind)


def between_agents(where: Where, item: Payload) -> Facts:
    """What another agent said to this one; the event of this name repeats a reply."""
    if item.content is not None:
        parts = [rules.unsealed(part) for part in parts_of(item.content, Part)]
        yield from _texts(where, item, parts, "user", "meta", label=item.author)


def reasoning(where: Where, item: Payload) -> Facts:
    """Often only encrypted: then the block has no text."""
    texts = (rules.joined(item.summary), rules.joined(item.content))
    parts = [Part("thinking", "\n".join([text for text in texts if text]) or None)]
    return _texts(where, item, parts, "assistant", "thinking")


def error(where: Where, event: Payload) -> Facts:
    """An error that the user saw."""
    if event.message:
        parts = [Part("text", event.message)]
        yield from _texts(where, event, parts, "system", "error")


def compacted(where: Where, payload: Payload) -> Facts:
    """A compaction, and its summary, with which the conversation goes on."""
    name = where.name(payload, payload.message)
    yield Compaction(
        session_id=where.thread,
        compaction_id=name,
        trigger=payload.trigger,
        compacted_at=where.at,
        ordinal=where.ordinal,
    )
    if payload.message:
        parts = [Part("text", payload.message)]
        yield from _texts(where, payload, parts, "user", "compaction_summary")


def _texts(
    where: Where,
    item: Payload,
    parts: list[Part],
    role: str,
    kind: str,
    *,
    label: str | None = None,
) -> Facts:
    name = where.name(item, rules.joined(parts))
    beside = item.internal_chat_message_metadata_passthrough
    yield Message(
        session_id=where.thread,
        message_id=name,
        turn_id=beside.turn_id if beside else None,
        role=role,
        kind=kind,
        sent_at=where.at,
        ordinal=where.ordinal,
        label=label,
    )
    for index, part in enumerate(parts):
        yield Block(
            session_id=where.thread,
            message_id=name,
            block_index=index,
            type=rules.BLOCK_TYPES.get(part.type or "", "other"),
            text=part.text,
        )


def call(where: Where, item: Payload) -> Facts:
    """A call; one that Codex's backend makes itself has its end in its status."""
    name = TOOLS.get(item.type or "") or item.name
    name = f"{item.namespace}.{name}" if item.namespace else name
    given = item.input if item.input is not None else item.action
    given = json_text(given) if given is not None else rules.as_json(item.arguments)
    call_id = item.call_id or where.name(item, given)
    message_id = item.id or (f"{where.thread}:{call_id}" if item.call_id else call_id)
    yield ToolCall(
        session_id=where.thread,
        message_id=message_id,
        tool_call_id=call_id,
        name=name,
        input=given,
        called_at=where.at,
    )
    if item.type in HOSTED and item.status == "completed":
        yield ToolResult(
            session_id=where.thread,
            tool_call_id=call_id,
            is_error=False,
            finished_at=where.at,
        )


def result(where: Where, item: Payload) -> Facts:
    """What a tool answered."""
    if not item.call_id:
        yield Reject(f"{item.type} without call_id")
        return
    answer = rules.answer(item)
    yield ToolResult(
        session_id=where.thread,
        tool_call_id=item.call_id,
        text=answer.text,
        is_error=answer.is_error,
        finished_at=where.at,
        duration_ms=answer.duration_ms,
    )


def ended(where: Where, event: Payload) -> Facts:
    """What an event knows of a call beside its output, which the items have."""
    if event.call_id:
        yield ToolResult(
            session_id=where.thread,
            tool_call_id=event.call_id,
            is_error=rules.has_failed(event),
            finished_at=where.at,
            duration_ms=rules.duration_ms(event),
        )
