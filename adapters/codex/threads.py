"""Facts about a thread: whose it is, its turns, and what its requests cost."""

from agentlake.adapters.codex import rules
from agentlake.adapters.codex.format import Git, ModelInfo, Payload
from agentlake.adapters.codex.where import Where
from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.values import without_login
from agentlake.models.link import Link
from agentlake.models.session import Session
from agentlake.models.turn import Turn
from agentlake.models.usage import Usage

TURNS = {
    "task_started": "started",
    "turn_started": "started",
    "task_complete": "ended",
    "turn_complete": "ended",
    "turn_aborted": "ended",
    "user_message": "user_message",
}
"""The events that a turn is told by."""


def title(_: Where, named: Payload) -> Facts:
    """A name that was given to a thread, in the index or in an event."""
    session_id, text = named.thread_id or named.id, named.thread_name
    if session_id and text:
        yield Session(session_id=session_id, title=text, title_source="index")


def session(where: Where, meta: Payload) -> Facts:
    """Who this thread is; the meta of another one is an ancestor's, copied."""
    thread = where.thread
    if meta.id != thread and rules.THREAD.fullmatch(thread):
        if meta.id is None:
            yield Reject("session_meta without id")
        else:
            yield _link(where, thread, meta.id, "copied")
        return
    began, git = rules.origin(meta), meta.git or Git()
    base = meta.history_base.thread_id if meta.history_base else None
    spawner = rules.spawn(began).parent_thread_id or meta.parent_thread_id
    parent = spawner or meta.forked_from_id or base
    relation = "subagent" if began.subagent or spawner else "fork" if parent else None
    entrypoint = began.word or meta.thread_source
    yield Session(
        session_id=thread,
        parent_session_id=parent,
        relation=relation,
        agent_type=rules.agent_type(meta),
        cwd=meta.cwd,
        git_branch=git.branch,
        git_commit=git.commit_hash,
        repo_url=without_login(git.repository_url),
        client_version=meta.cli_version,
        entrypoint=entrypoint or ("subagent" if began.subagent else None),
        provider=meta.model_provider,
        category=rules.category(began),
        is_header=True,
        replay_base=base,
        own_from_ordinal=meta.subagent_history_start_ordinal,
        started_at=meta.timestamp or where.at,
    )
    if parent and relation:
        yield _link(where, thread, parent, relation)
    if spawner and meta.forked_from_id and not base:
        yield _link(where, thread, meta.forked_from_id, "copied")


def spawned(where: Where, event: Payload) -> Facts:
    """A subagent was begun; that it was talked to or stopped links nothing new."""
    child = event.agent_thread_id or event.new_thread_id
    if child and event.kind in (None, "started"):
        call = event.event_id or event.call_id
        yield _link(where, child, where.thread, "subagent", call)


def _link(
    where: Where, child: str, parent: str, relation: str, call: str | None = None
) -> Link:
    return Link(
        session_id=child,
        parent_session_id=parent,
        relation=relation,
        tool_call_id=call,
        linked_at=where.at,
    )


def turn(where: Where, payload: Payload) -> Facts:
    """A turn that begins or ends, or the settings that hold for it."""
    yield Turn(
        session_id=where.thread,
        turn_id=payload.turn_id,
        kind=TURNS.get(payload.type or "", "context"),
        model=payload.model or (payload.model_info or ModelInfo()).slug,
        service_tier=payload.service_tier,
        cwd=payload.cwd,
        began_at=where.at,
        ordinal=where.ordinal,
    )


def settings(where: Where, event: Payload) -> Facts:
    """Settings that hold from here on, when they name a model or a tier."""
    now = event.thread_settings or event
    if now.model or now.service_tier:
        named = Payload(model=now.model, cwd=now.cwd, service_tier=now.service_tier)
        yield from turn(where, named)


def usage_counter(where: Where, event: Payload) -> Facts:
    """The last request beside the running total; a mere rate limit has neither."""
    if (info := event.info) is None:
        return
    if not (info.last_token_usage or info.total_token_usage):
        return
    last = rules.disjoint(info.last_token_usage)
    total = rules.disjoint(info.total_token_usage)
    yield Usage(
        session_id=where.thread,
        kind="counter",
        called_at=where.at,
        ordinal=where.ordinal,
        counter=rules.counter(info.total_token_usage),
        input_tokens=last.input,
        cache_read_tokens=last.cache_read,
        cache_write_tokens=last.cache_write,
        output_tokens=last.output,
        reasoning_tokens=last.reasoning,
        total_input_tokens=total.input,
        total_cache_read_tokens=total.cache_read,
        total_cache_write_tokens=total.cache_write,
        total_output_tokens=total.output,
        total_reasoning_tokens=total.reasoning,
    )


def usage_record(where: Where, record: Payload) -> Facts:
    """One response; its running sums, and its mirror in `compacted`, are left out.

    The record says whose it is: in a fork the parent's records stay the parent's.
    """
    if record.usage is None:
        yield Reject("token_usage_record without usage")
        return
    tokens = rules.disjoint(record.usage)
    yield Usage(
        session_id=record.thread_id or where.thread,
        request_id=record.response_id or None,
        turn_id=record.turn_id,
        kind="response",
        called_at=where.at,
        ordinal=where.ordinal,
        input_tokens=tokens.input,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
        output_tokens=tokens.output,
        reasoning_tokens=tokens.reasoning,
    )
