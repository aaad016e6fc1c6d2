"""Facts of V2: a message is one row with all that is in it."""

from agentlake.adapters.families.opencode import messages, rules
from agentlake.adapters.families.opencode.format import (
    Cache,
    Event,
    Message,
    Part,
    Row,
    Session,
    Time,
    Tokens,
    ToolState,
)
from agentlake.adapters.families.opencode.where import Where
from agentlake.adapters.sdk.contract import Facts
from agentlake.adapters.sdk.values import named
from agentlake.models import block, compaction, message
from agentlake.models.usage import Usage

_SPEAKERS = {
    "user": ("user", "prompt"),
    "synthetic": ("user", "meta"),
    "skill": ("user", "meta"),
    "system": ("system", "meta"),
    "shell": ("user", "command"),
    "compaction": ("user", "compaction_summary"),
}
"""Role and kind of the rows that are no reply; all others are settings."""


def total_facts(id_: str, said: Session, precedence: int) -> Facts:
    """All that a session counted: what is in no message's row, or has no message."""
    tokens = Tokens(
        input=said.tokens_input,
        output=said.tokens_output,
        reasoning=said.tokens_reasoning,
        cache=Cache(said.tokens_cache_read, said.tokens_cache_write),
    )
    if rules.is_zero(tokens):
        return
    model = rules.model_of_session(said)
    # What an older version began was counted by it, and taken over as it was.
    is_old = said.version is not None and not said.version.startswith("2.")
    counts = rules.counts(
        tokens,
        is_disjoint=not is_old or rules.excludes_reasoning(said.version, None),
    )
    yield Usage(
        session_id=id_,
        kind="scope_total",
        usage_key=f"rest:{id_}",
        scope=id_,
        precedence=precedence,
        granularity="session",
        provider=model.provider_id,
        model=named(model.id, model.model_id),
        called_at=rules.moment(said.time_updated or said.time_created),
        input_tokens=counts.input,
        cache_read_tokens=counts.cache_read,
        cache_write_tokens=counts.cache_write,
        output_tokens=counts.output,
        reasoning_tokens=counts.reasoning,
        reported_cost_usd=rules.cost(said.cost),
    )


def event_facts(row: Row, said: Event) -> Facts:
    """Usage beside any message: a title, a compaction, a goal that was checked."""
    session = row.aggregate_id or said.session_id
    if not session or said.tokens is None:
        return
    counts = rules.counts(said.tokens, is_disjoint=True)
    yield Usage(
        session_id=session,
        usage_key=f"event:{row.id}",
        scope=session,
        precedence=rules.V2,
        provider=said.model.provider_id if said.model else None,
        model=(said.model.id or said.model.model_id) if said.model else None,
        called_at=rules.moment(said.time.created or row.created),
        input_tokens=counts.input,
        cache_read_tokens=counts.cache_read,
        cache_write_tokens=counts.cache_write,
        output_tokens=counts.output,
        reasoning_tokens=counts.reasoning,
        reported_cost_usd=rules.cost(said.cost),
        is_final=True,
    )


def message_facts(where: Where, row: Row, said: Message) -> Facts:
    """A row of the transcript; of settings and idle times nothing is said."""
    if row.type == "assistant":
        yield from _reply(where, said)
        return
    role, kind = _SPEAKERS.get(row.type or "", ("", ""))
    if not role or (row.type == "compaction" and said.status == "running"):
        return
    at = rules.moment(said.time.created or where.at)
    yield message.Message(
        session_id=where.session,
        message_id=where.message,
        role=role,
        kind=kind,
        sent_at=at,
    )
    yield from _blocks(where, _texts(row, said))
    if row.type == "compaction":
        yield compaction.Compaction(
            session_id=where.session,
            compaction_id=where.message,
            trigger=said.reason,
            compacted_at=at,
        )


def _texts(row: Row, said: Message) -> list[tuple[str, str | None]]:
    text = said.command if row.type == "shell" else said.text
    if row.type == "compaction":
        text = said.summary if isinstance(said.summary, str) else None
    files = [
        (
            "image" if (file.mime or "").startswith("image/") else "document",
            file.name or file.filename or file.mime,
        )
        for file in said.files
    ]
    output = said.output if isinstance(said.output, str) else None
    return [("text", text or said.description), *files, ("other", output)]


def _blocks(where: Where, texts: list[tuple[str, str | None]]) -> Facts:
    for index, (kind, text) in enumerate(texts):
        if text:
            yield block.Block(
                session_id=where.session,
                message_id=where.message,
                block_index=index,
                type=kind,
                text=text,
            )


def _reply(where: Where, said: Message) -> Facts:
    _, model = rules.model_of(said)
    yield from messages.usage_facts(where, said)
    is_error = said.error is not None and not said.content
    yield message.Message(
        session_id=where.session,
        message_id=where.message,
        role="assistant",
        kind="error" if is_error else "response",
        model=model,
        sent_at=rules.moment(said.time.created or where.at),
    )
    if is_error:
        yield from _blocks(where, [("text", rules.error_text(said.error))])
    for index, item in enumerate(said.content):
        yield from _item(where, index * 2, item)


def _item(where: Where, index: int, item: Part) -> Facts:
    match item.type:
        case "text" | "reasoning":
            if item.text:
                yield block.Block(
                    session_id=where.session,
                    message_id=where.message,
                    block_index=index,
                    type="text" if item.type == "text" else "thinking",
                    text=item.text,
                )
        case "tool":
            call = item.id or f"{where.message}:{index}"
            time, state = item.time or Time(), item.state or ToolState()
            began = time.ran or time.created
            as_before = ToolState(
                status=state.status,
                input=state.input,
                output=state.output,
                content=state.content,
                error=state.error,
                metadata=state.metadata,
                structured=state.structured,
                time=Time(start=began, end=time.completed),
            )
            yield from messages.tool_facts(
                where, index, call, item.name or item.tool, as_before
            )
