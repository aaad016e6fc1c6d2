"""Facts of the first two generations: sessions, messages and their parts."""

from hashlib import sha256

from agentlake.adapters.families.opencode import rules
from agentlake.adapters.families.opencode.format import (
    Message,
    Part,
    Session,
    Tokens,
    ToolState,
)
from agentlake.adapters.families.opencode.where import Where
from agentlake.adapters.sdk.contract import Facts
from agentlake.adapters.sdk.decode import encode
from agentlake.adapters.sdk.values import json_text, named
from agentlake.models import block, compaction, link, message, session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.usage import Usage

_OF_A_PERSON = ("text", "file", "agent", "subtask")


def session_facts(id_: str, said: Session) -> Facts:
    """A session; of a fork in V1 it is known that it is one, but not of what."""
    above, relation = rules.parent(said)
    title = rules.title(said)
    yield session.Session(
        session_id=id_,
        parent_session_id=above,
        relation=relation,
        agent_type=rules.agent_type(said),
        title=title,
        title_source="index" if title else None,
        cwd=rules.folder(said),
        client_version=said.version,
        started_at=rules.moment(said.time_created or said.time.created),
    )


def message_facts(where: Where, said: Message) -> Facts:
    """A message, what it cost, and whether it is one that a person wrote."""
    _, model = rules.model_of(said)
    is_reply = said.role == "assistant"
    is_system = said.role not in ("assistant", "user", None)
    kind = _kind_of_reply(said) if is_reply else _kind_of_prompt(said)
    if is_reply:
        yield from usage_facts(where, said)
    yield message.Message(
        session_id=where.session,
        message_id=where.message,
        record_id=where.message,
        parent_record_id=said.parent_id,
        role="assistant" if is_reply else "system" if is_system else "user",
        kind="meta" if is_system else kind,
        model=model if is_reply else None,
        sent_at=rules.moment(said.time.created or where.at),
        cwd=named(said.path.cwd) if said.path else None,
    )
    if kind == "error":
        yield block.Block(
            session_id=where.session,
            message_id=where.message,
            block_index=0,
            type="text",
            text=rules.error_text(said.error),
        )
    asked = next((part for part in said.parts if part.type == "compaction"), None)
    if asked or (is_reply and said.summary is True):
        trigger = None
        if asked:
            trigger = "auto" if asked.auto else "manual"
        yield compaction.Compaction(
            session_id=where.session,
            # The summary answers the message that asks for it: one compaction.
            compaction_id=(is_reply and said.parent_id) or where.message,
            trigger=trigger,
            compacted_at=rules.moment(said.time.created or where.at),
        )


def _kind_of_reply(said: Message) -> str:
    if said.summary is True:
        return "compaction_summary"
    is_silent = said.tokens is None or not said.tokens.output
    return "error" if said.error and is_silent and not said.parts else "response"


def _kind_of_prompt(said: Message) -> str:
    own = [part for part in said.parts if part.type in _OF_A_PERSON]
    typed = [part for part in own if rules.is_typed(part)]
    return "prompt" if typed or not said.parts else "meta"


def usage_facts(where: Where, said: Message) -> Facts:
    """One usage per step; a message's own tokens, its last step's, where none is told.

    Those of a reply that is still written are not final, and one that was stopped
    before it began has none.
    """
    steps = [part for part in said.parts if part.type == "step-finish" and part.tokens]
    if not steps:
        if said.tokens is None or not said.time.completed:
            return
        if said.error is not None and rules.is_zero(said.tokens):
            return
        steps = [Part(cost=said.cost, tokens=said.tokens, reason=said.finish)]
    provider, model = rules.model_of(said)
    copies = rules.fingerprint(said, provider, model)
    for index, step in enumerate(steps):
        counts = rules.counts(
            step.tokens or Tokens(),
            is_disjoint=where.precedence == rules.V2
            or rules.excludes_reasoning(said.version or where.version, provider),
        )
        yield Usage(
            session_id=where.session,
            message_id=where.message,
            usage_key=f"{copies}:{index}" if index else copies,
            scope=where.session,
            precedence=where.precedence,
            provider=provider,
            model=model,
            called_at=rules.moment(said.time.created or where.at),
            input_tokens=counts.input,
            cache_read_tokens=counts.cache_read,
            cache_write_tokens=counts.cache_write,
            output_tokens=counts.output,
            reasoning_tokens=counts.reasoning,
            reported_cost_usd=rules.cost(step.cost),
            is_final=step.reason is not None,
        )


def step_facts(where: Where, step: Part) -> Facts:
    """A step told in a file of its own: a part of its message's usage.

    Who made it and when stands with the message.
    """
    if step.tokens is None:
        return
    # Copies have other ids; that two steps of a message count the same does not happen,
    # as each begins with what the one before it said.
    told = sha256(encode((step.tokens, step.cost, step.snapshot))).hexdigest()[:12]
    is_disjoint = rules.excludes_reasoning(where.version, None)
    counts = rules.counts(step.tokens, is_disjoint=is_disjoint)
    yield Usage(
        session_id=where.session,
        message_id=where.message,
        scope=where.session,
        precedence=where.precedence,
        call_part=f"step:{told}",
        input_tokens=counts.input,
        cache_read_tokens=counts.cache_read,
        cache_write_tokens=counts.cache_write,
        output_tokens=counts.output,
        reasoning_tokens=counts.reasoning,
        reported_cost_usd=rules.cost(step.cost),
        is_final=step.reason is not None,
    )


def part_facts(where: Where, part: Part) -> Facts:
    """A part of a message: text, a tool with what came of it, or the end of a step."""
    match part.type:
        case "step-finish" if where.precedence == rules.TREE:
            yield from step_facts(where, part)
        case "text":
            # Put in by the app, it is no part of what was said.
            kind = "text" if rules.is_typed(part) else "other"
            yield from _block(where, 0, kind, part.text)
        case "reasoning":
            yield from _block(where, 0, "thinking", part.text)
        case "file":
            is_image = (part.mime or "").startswith("image/")
            kind = "image" if is_image else "document"
            yield from _block(where, 0, kind, part.filename or part.mime)
        case "agent":
            yield from _block(where, 0, "other", part.name)
        case "subtask":
            yield from _block(where, 0, "other", part.prompt)
        case "tool":
            call = part.call_id or part.id or where.id
            yield from tool_facts(where, 0, call, part.tool, part.state or ToolState())


def _block(where: Where, index: int, kind: str, text: str | None) -> Facts:
    if text:  # an empty one is being written
        yield block.Block(
            session_id=where.session,
            message_id=where.message,
            block_index=index,
            type=kind,
            text=text,
        )


def tool_facts(
    where: Where, index: int, call: str, tool: str | None, state: ToolState
) -> Facts:
    """A call and, once it has ended, its result; a task's result names its session."""
    began, ended = (state.time.start, state.time.end) if state.time else (None, None)
    has_ended = state.status in ("completed", "error")
    yield ToolCall(
        session_id=where.session,
        message_id=where.message,
        tool_call_id=call,
        name=tool,
        input=json_text(state.input),
        called_at=rules.moment(began or where.at),
    )
    for at, kind in enumerate(("tool_use", "tool_result")[: 1 + has_ended]):
        yield block.Block(
            session_id=where.session,
            message_id=where.message,
            block_index=index + at,
            type=kind,
            tool_call_id=call,
        )
    if has_ended:
        took = round(ended - began) if began and ended else None
        yield ToolResult(
            session_id=where.session,
            message_id=where.message,
            tool_call_id=call,
            text=rules.output(state),
            is_error=rules.has_failed(tool, state),
            finished_at=rules.moment(ended),
            duration_ms=None if took is None else max(0, took),
        )
    told = state.metadata or state.structured
    if told and told.session_id:
        yield link.Link(
            session_id=told.session_id,
            parent_session_id=where.session,
            relation="subagent",
            tool_call_id=call,
            linked_at=rules.moment(began or where.at),
        )
