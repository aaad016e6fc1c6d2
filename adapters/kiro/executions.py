"""Executions: what the agent did and said after a prompt, and what that cost.

A list of actions in older files; in others the conversation so far, under one of many
names, or just a prompt and a response.
"""

from collections.abc import Iterator
from typing import Any

from agentlake.adapters.kiro.ide_format import (
    ASKED,
    EXECUTION,
    Action,
    Execution,
    Spoken,
)
from agentlake.adapters.kiro.talk import (
    Names,
    Say,
    credits_in,
    model_of,
    role_of,
    typed,
    words,
)
from agentlake.adapters.sdk.contract import Facts, Keyed, Reject
from agentlake.adapters.sdk.decode import Unreadable, encode, untyped
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.sdk.values import json_text
from agentlake.models.usage import Usage

_PER_SECOND = 100
"""Places: what one execution holds comes after that of the ones before."""
_SAYS = ("say", "model")
"""Actions whose output is what the agent said; any other is a tool's."""
_LISTS = ("messages", "conversation", "chat", "transcript", "entries", "events")
_PROMPTS = ("prompt", "input", "userMessage", "user_message", "request")
_RESPONSES = ("response", "output", "assistantMessage", "assistant_message", "result")
_CALLS = ("toolCalls", "tool_calls", "tools")


def explode(name: str, data: bytes) -> Iterator[Keyed]:
    """What was done and said in one execution, and its credits. Raises Unreadable.

    Other files without an extension lie there too, lists of executions among them.
    """
    if not data.lstrip().startswith(b"{"):
        return
    about = untyped(data)
    if not isinstance(about, dict) or "executions" in about:
        return
    told, rejects = EXECUTION.decode(data)
    own = told.execution_id or told.id
    session_id = _session_of(told, about) or own or name
    began = moment(told.start_time)
    first = int(began.timestamp() * _PER_SECOND) if began else 0
    is_one = "actions" in about
    for index, (key, spoken) in enumerate(
        _spoken(own or name, told, about, session_id)
    ):
        is_one = True
        yield Keyed(key, encode(spoken), first + index)
    if credits := credits_in(told.usage_summary):
        is_one = True
        cost = Spoken(
            session_id=session_id,
            name=own or name,
            at=told.end_time or told.start_time,
            model=model_of(about),
            credits=credits,
        )
        yield Keyed("credits", encode(cost), first)
    reasons = [one.reason for one in rejects] if is_one else []
    if own and not is_one:
        reasons = ["an execution without actions, messages, prompt or response"]
    if reasons:
        yield Keyed("damaged", encode(Spoken(reasons=reasons)))


def _session_of(told: Execution, about: dict[str, Any]) -> str | None:
    beside = about.get("metadata")
    meta = beside if isinstance(beside, dict) else {}
    found = (
        told.chat_session_id,
        told.session_id,
        told.conversation_id,
        told.workflow_id,
        meta.get("workflowId"),
        meta.get("sessionId"),
    )
    return next((one for one in found if isinstance(one, str) and one), None)


def _spoken(
    own: str, told: Execution, about: dict[str, Any], session_id: str
) -> Iterator[tuple[str, Spoken]]:
    for index, action in enumerate(told.actions):
        key = action.action_id or str(index)
        yield (
            f"actions/{key}",
            Spoken(
                session_id=session_id,
                name=f"{own}:{key}",
                at=action.emitted_at or told.start_time,
                action=action,
            ),
        )
    if told.actions:
        return
    names, model = Names(), model_of(about)
    for role, text, calls in _said(about):
        name = names.next(role, text or encode(calls).decode())
        yield (
            f"messages/{name}",
            Spoken(
                session_id=session_id,
                name=f"{session_id}:{name}",
                role=role,
                text=text,
                at=told.start_time,
                model=model if role == "assistant" else None,
                asked=calls,
            ),
        )


def _said(about: dict[str, Any]) -> Iterator[tuple[str, str | None, list[Any]]]:
    """Role, text and calls of each message, from where the execution has them."""
    inner = about.get("input")
    data = inner.get("data") if isinstance(inner, dict) else None
    for place in (about.get("context"), about, data):
        if messages := _listed(place if isinstance(place, dict) else {}):
            yield from messages
            return
    prompt = next(filter(None, (words(about.get(name)) for name in _PROMPTS)), None)
    if prompt := typed(prompt):
        yield "user", prompt, []
    answer = next(filter(None, (words(about.get(name)) for name in _RESPONSES)), None)
    if answer or _calls(about):
        yield "assistant", answer, _calls(about)


def _listed(place: dict[str, Any]) -> list[tuple[str, str | None, list[Any]]]:
    for name in _LISTS:
        found = place.get(name)
        if isinstance(found, list) and found:
            return [said for one in found if (said := _message(one))]
    return []


def _message(one: Any) -> tuple[str, str | None, list[Any]] | None:
    known = one if isinstance(one, dict) else {}
    role = known.get("role") or known.get("type") or known.get("author")
    text, calls = typed(words(one)), _calls(known)
    return (role_of(role), text, calls) if text or calls else None


def _calls(message: dict[str, Any]) -> list[Any]:
    for name in _CALLS:
        found = message.get(name)
        if isinstance(found, list) and found:
            try:
                return ASKED.decode(encode(found))[0]
            except Unreadable:
                return []
    return []


def action(it: Spoken, done: Action) -> Facts:
    """What the agent said, or the call of a tool with its answer."""
    say = Say(it.session_id, it.name, moment(it.at))
    yield from say.message("assistant", "response")
    if done.action_type in _SAYS:
        yield say.text(words(done.output))
        return
    yield from say.call(it.name, done.action_type, done.input)
    if done.output is not None:
        yield from say.result(it.name, json_text(done.output), None)


def asked_for(say: Say, it: Spoken) -> Facts:
    """The calls beside a text; without an id they are known by their place."""
    for place, one in enumerate(it.asked):
        given = (one.input, one.args, one.arguments)
        yield from say.call(
            one.id or one.tool_call_id or f"{it.name}.{place}",
            one.name or one.tool_name,
            next((value for value in given if value is not None), None),
        )


def cost(it: Spoken) -> Iterator[Usage | Reject]:
    """What an execution cost, in credits."""
    yield Usage(
        session_id=it.session_id,
        usage_key=f"{it.name}/credits",
        model=it.model,
        called_at=moment(it.at),
        granularity="turn",
        unit="credits",
        amount=it.credits,
    )
