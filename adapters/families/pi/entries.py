"""What each type of entry says; usage comes first, so that nothing can cost it.

Every entry of the tree gives a message, also one that only changes a setting: the
conversation is the path from its last entry to the root, and a path must not break.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import TypeAlias

from msgspec.structs import replace

from agentlake.adapters.families.pi import rules
from agentlake.adapters.families.pi.format import (
    ENTRY,
    SNAPSHOT,
    Body,
    Entry,
    Part,
    Tokens,
)
from agentlake.adapters.families.pi.rules import At
from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.values import named, parts_of, verbatim
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.fact import Fact
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.usage import Usage

Makes: TypeAlias = Mapping[str, Callable[[Entry, At], Facts]]


def facts(data: bytes, at: At, makes: Makes) -> Iterable[Fact | Reject]:
    """The facts of one entry; `makes` is `FACTS` with an agent's own ones over it."""
    entry, rejects = ENTRY.decode(data)
    entry = rules.timed(entry)
    make = makes.get(entry.type or "")
    if entry.type is None:
        return rejects
    is_kept = entry.type == "custom" and entry.custom_type != "model-snapshot"
    if make is None or is_kept:  # an odd field of what is passed over is no loss
        return node(entry, at) if entry.id else ()
    made = make(entry, at)
    return chain(made, rejects) if rejects else made


def remark(
    entry: Entry,
    at: At,
    kind: str,
    text: str | None,
    *,
    role: str = "system",
    model: str | None = None,
    label: str | None = None,
) -> Facts:
    """A message with at most one text."""
    name = rules.name_of(entry, at)
    yield Message(
        session_id=at.session_id,
        message_id=name,
        record_id=entry.id,
        parent_record_id=entry.parent_id,
        in_tree=True,
        role=role,
        kind=kind,
        model=model,
        sent_at=entry.timestamp,
        label=label,
    )
    if text:
        yield Block(
            session_id=at.session_id,
            message_id=name,
            block_index=0,
            type="text",
            text=text,
        )


def node(entry: Entry, at: At) -> Facts:
    """An entry that says nothing of itself but stands in the tree."""
    return remark(entry, at, "meta", None)


def session(entry: Entry, at: At) -> Facts:
    """The header."""
    parent = rules.parent_session(entry)
    yield Session(
        session_id=at.session_id,
        parent_session_id=parent,
        relation="fork" if parent else None,
        cwd=named(entry.cwd),
        started_at=entry.timestamp,
    )


def titled(entry: Entry, at: At) -> Facts:
    """A name that the user gave; an empty one takes it back."""
    yield Session(
        session_id=at.session_id, title=entry.name or "", title_source="custom"
    )
    yield from node(entry, at)


def model_change(entry: Entry, at: At) -> Facts:
    """The model from here on."""
    model = named(entry.model_id, entry.model)
    return remark(entry, at, "meta", None, model=model)


def snapshot(entry: Entry, at: At) -> Facts:
    """The model from here on, as OpenClaw keeps it."""
    kept, rejects = SNAPSHOT.decode(bytes(entry.data) or b"{}")
    yield from remark(entry, at, "meta", None, model=named(kept.model_id))
    yield from rejects


def usage(
    entry: Entry,
    at: At,
    tokens: Tokens | None,
    *,
    api: str | None = None,
    provider: str | None = None,
    model: str | None = None,
    is_of_branch: bool = True,
) -> Facts:
    """What a request cost; nothing of one that was never answered.

    `is_of_branch`: without a name, its model is the one of its branch.
    """
    if tokens is None or rules.is_nothing(tokens):
        return
    reasoning = tokens.reasoning
    body = entry.message
    model = named(model)
    yield Usage(
        session_id=at.session_id,
        message_id=rules.name_of(entry, at),
        request_id=body.response_id if body else None,
        record_id=entry.id,
        turn_id=(entry.parent_id or "") if is_of_branch and not model else None,
        scope=rules.request_of(entry, tokens),
        precedence=2 if entry.id else 1,
        provider=named(provider),
        model=model,
        called_at=entry.timestamp,
        input_tokens=rules.prompt(tokens, api or provider),
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
        cache_write_1h_tokens=tokens.cache_write_1h,
        output_tokens=tokens.output,
        reasoning_tokens=tokens.reasoning_tokens if reasoning is None else reasoning,
        reported_cost_usd=rules.cost(tokens),
        is_final=body.stop_reason is not None if body else None,
    )


def spent(entry: Entry, at: At) -> Facts:
    """A request outside of the conversation: a cache kept warm, a title."""
    yield from usage(
        entry,
        at,
        entry.usage,
        api=entry.api,
        provider=entry.provider,
        model=entry.model,
    )
    yield from node(entry, at)


def compaction(entry: Entry, at: At) -> Facts:
    """A compaction, its summary, and what making it cost."""
    yield from usage(entry, at, entry.usage, model=entry.model)
    yield Compaction(
        session_id=at.session_id,
        compaction_id=rules.name_of(entry, at),
        compacted_at=entry.timestamp,
        tokens_before=entry.tokens_before,
    )
    yield from remark(entry, at, "compaction_summary", entry.summary, role="user")


def branch_summary(entry: Entry, at: At) -> Facts:
    """What was done on a branch that was left, and what summing it up cost."""
    yield from usage(entry, at, entry.usage, model=entry.model)
    yield from remark(entry, at, "meta", entry.summary)


def injected(entry: Entry, at: At) -> Facts:
    """A message that an extension put into the conversation."""
    return remark(entry, at, "meta", rules.text_of(entry.content))


def message(entry: Entry, at: At) -> Facts:
    """A message of the conversation, by who speaks."""
    if (body := entry.message) is None:
        return iter(())
    match body.role:
        case "assistant":
            return answer(entry, at, body)
        case "toolResult":
            return result(entry, at, body)
        case "user":
            return said(entry, at, body, "user", "prompt")
        case "bashExecution":
            ran = [text for text in (body.command, body.output) if text]
            return remark(entry, at, "command", "\n".join(ran), role="user")
        case "compactionSummary":
            return remark(entry, at, "compaction_summary", body.summary, role="user")
        case "branchSummary":
            return remark(entry, at, "meta", body.summary)
        case _:  # custom, hookMessage, system
            return said(entry, at, body, "system", "meta")


def said(
    entry: Entry,
    at: At,
    body: Body,
    role: str,
    kind: str,
    *,
    label: str | None = None,
) -> Facts:
    """A message with all its parts, and the calls that it makes."""
    name = rules.name_of(entry, at)
    yield Message(
        session_id=at.session_id,
        message_id=name,
        record_id=entry.id,
        parent_record_id=entry.parent_id,
        in_tree=True,
        role=role,
        kind=kind,
        model=named(body.model),
        sent_at=entry.timestamp,
        label=label,
    )
    for index, part in enumerate(parts_of(body.content, Part)):
        kind = rules.BLOCK_TYPES.get(part.type or "", "other")
        call = part.id if kind == "tool_use" else None
        yield Block(
            session_id=at.session_id,
            message_id=name,
            block_index=index,
            type=kind,
            text=part.thinking if kind == "thinking" else part.text,
            tool_call_id=call,
        )
        if call:
            yield ToolCall(
                session_id=at.session_id,
                message_id=name,
                tool_call_id=call,
                name=named(part.name),
                input=verbatim(part.arguments),
                called_at=entry.timestamp,
            )
        elif kind == "tool_use":
            yield Reject("`toolCall` does not name itself")


def answer(entry: Entry, at: At, body: Body, kind: str = "response") -> Facts:
    """A reply; the request of one that failed was billed all the same."""
    yield from usage(
        entry,
        at,
        body.usage,
        api=body.api,
        provider=body.provider,
        model=named(body.response_model, body.model),
    )
    if body.stop_reason == "error":
        kind = "error"
        content = parts_of(body.content, Part)
        if body.error_message:
            content.append(Part(type="text", text=body.error_message))
        body = replace(body, content=content)
    yield from said(entry, at, body, "assistant", kind)


def result(entry: Entry, at: At, body: Body) -> Facts:
    """What a tool answered, and what it cost when it asked a model itself."""
    yield from usage(
        entry,
        at,
        body.usage,
        api=body.api,
        provider=body.provider,
        is_of_branch=False,
    )
    name = rules.name_of(entry, at)
    yield Message(
        session_id=at.session_id,
        message_id=name,
        record_id=entry.id,
        parent_record_id=entry.parent_id,
        in_tree=True,
        role="tool",
        kind="tool_result",
        sent_at=entry.timestamp,
    )
    if not body.tool_call_id:
        yield Reject("`toolResult` does not name its call")
        return
    yield Block(
        session_id=at.session_id,
        message_id=name,
        block_index=0,
        type="tool_result",
        tool_call_id=body.tool_call_id,
    )
    yield ToolResult(
        session_id=at.session_id,
        message_id=name,
        tool_call_id=body.tool_call_id,
        text=rules.text_of(body.content),
        is_error=body.is_error,
        finished_at=entry.timestamp,
    )


FACTS: Makes = {
    "session": session,
    "message": message,
    "compaction": compaction,
    "branch_summary": branch_summary,
    "usage": spent,
    "custom": snapshot,
    "custom_message": injected,
    "model_change": model_change,
    "session_info": titled,
}
"""What makes facts of each type of entry; of any other there is only its node."""
