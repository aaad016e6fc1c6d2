"""What happens to a session: its runs, where it is, and what it used."""

from datetime import UTC, datetime
from typing import NamedTuple

from agentlake.adapters.families.copilot import talk
from agentlake.adapters.families.copilot.format import Context, Data, Tokens
from agentlake.adapters.families.copilot.talk import At
from agentlake.adapters.sdk.contract import Facts
from agentlake.models.compaction import Compaction
from agentlake.models.session import Session
from agentlake.models.turn import Turn
from agentlake.models.usage import Usage

AI_UNITS_SINCE = datetime(2026, 6, 1, tzinfo=UTC)
"""From then on a billed AI unit, 1e9 of what the files count, is a US cent."""
_NANO_AIU_PER_USD = 1e11


def scope(session: str, model: str | None) -> str:
    """What several places tell of: a session's use of a model, in any spelling."""
    return f"{session}/{(model or '').lower().replace('.', '-')}"


def usd(nano_aiu: int | None, at: datetime | None) -> float | None:
    """What AI units cost; None before they were billed."""
    if nano_aiu is None or at is None:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return nano_aiu / _NANO_AIU_PER_USD if at >= AI_UNITS_SINCE else None


class Disjoint(NamedTuple):
    """Counts in the one token convention, in the order of their columns."""

    input: int | None
    cache_read: int | None
    cache_write: int | None
    output: int | None
    reasoning: int | None


def disjoint(tokens: Tokens) -> Disjoint:
    """The prompt without what the cache read and wrote.

    A prompt smaller than both includes what was read alone; one that is smaller than
    that includes neither, and is left as it is.
    """
    read, wrote = tokens.cache_read_tokens or 0, tokens.cache_write_tokens or 0
    fresh = tokens.input_tokens
    if fresh is not None:
        within = (part for part in (read + wrote, read) if part <= fresh)
        fresh -= next(within, 0)
    return Disjoint(
        fresh,
        tokens.cache_read_tokens,
        tokens.cache_write_tokens,
        tokens.output_tokens,
        tokens.reasoning_tokens,
    )


def started(at: At, data: Data) -> Facts:
    """A run begins: the first of the session, or one that goes on with it."""
    context = data.context or Context()
    version = data.copilot_version
    if version is None and isinstance(data.version, str):
        version = data.version
    yield Turn(
        session_id=at.session, kind="run", model=data.selected_model, began_at=at.at
    )
    yield Session(
        session_id=at.session,
        cwd=context.cwd,
        git_branch=context.branch,
        git_commit=context.head_commit,
        repo_url=context.repository,
        client_version=version,
        started_at=data.start_time or at.at,
    )


def moved(at: At, data: Data) -> Facts:
    """The session works somewhere else from here on."""
    context = data.context or Context(data.cwd, None, data.branch)
    yield Session(session_id=at.session, cwd=context.cwd, git_branch=context.branch)


def model_changed(at: At, data: Data) -> Facts:
    """Another model answers from here on."""
    if data.new_model:
        yield Turn(
            session_id=at.session, kind="context", model=data.new_model, began_at=at.at
        )


def turn(at: At, data: Data) -> Facts:
    """A turn of the main agent begins; where it names its model, that answers."""
    if data.model and not at.agent:
        yield Turn(
            session_id=at.session, kind="context", model=data.model, began_at=at.at
        )


def title(at: At, data: Data) -> Facts:
    """A title that a model made."""
    if data.title:
        yield Session(session_id=at.session, title=data.title, title_source="ai")


def reply(at: At, data: Data) -> Facts:
    """A reply with its output; its prompt is known when the run has ended."""
    if data.output_tokens is not None and not talk.is_nothing(data):
        asked = data.tool_requests or ()
        name = at.name(data.api_call_id or data.message_id)
        yield Usage(
            session_id=at.session,
            agent_id=at.agent,
            message_id=name,
            record_id=at.event,
            turn_id=next((one.tool_call_id for one in asked), None),
            kind="reply_output",
            usage_key=name,
            scope=scope(at.session, data.model) if data.model else None,
            model=data.model,
            called_at=at.at,
            output_tokens=data.output_tokens,
            is_estimated=True,
        )
    yield from talk.reply(at, data)


def compaction(at: At, data: Data) -> Facts:
    """A context was replaced by its summary; one that failed only cost."""
    used = data.compaction_tokens_used
    if used and any(tokens := disjoint(used.tokens)):
        yield Usage(
            session_id=at.session,
            agent_id=at.agent,
            record_id=at.event,
            kind="reply_output",
            usage_key=at.name(None),
            scope=scope(at.session, used.model) if used.model else None,
            model=used.model,
            called_at=at.at,
            input_tokens=tokens.input,
            cache_read_tokens=tokens.cache_read,
            cache_write_tokens=tokens.cache_write,
            output_tokens=tokens.output,
        )
    if data.success is not False:
        yield Compaction(
            session_id=at.session,
            agent_id=at.agent,
            compaction_id=at.event,
            trigger=data.trigger,
            compacted_at=at.at,
            tokens_before=data.pre_compaction_tokens,
            tokens_after=data.post_compaction_tokens,
        )


def shutdown(at: At, data: Data) -> Facts:
    """The end of a run, with what each model did until then."""
    for model, metrics in (data.model_metrics or {}).items():
        if metrics is None or metrics.usage is None:
            continue
        tokens = disjoint(metrics.usage)
        yield Usage(
            session_id=at.session,
            record_id=at.event,
            kind="run_segment",
            scope=scope(at.session, model),
            model=model,
            called_at=at.at,
            input_tokens=tokens.input,
            cache_read_tokens=tokens.cache_read,
            cache_write_tokens=tokens.cache_write,
            output_tokens=tokens.output,
            reasoning_tokens=tokens.reasoning,
            reported_cost_usd=usd(metrics.total_nano_aiu, at.at),
            granularity="session",
            amount=metrics.requests.count if metrics.requests else None,
        )
