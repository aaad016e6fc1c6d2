"""From the parts of a thread to facts."""

import re

from msgspec.structs import replace

from agentlake.adapters.amp.format import (
    Booked,
    Initial,
    Meta,
    Part,
    Platform,
    Repository,
    Run,
    Said,
    Split,
    Thread,
    Tokens,
    Tree,
)
from agentlake.adapters.sdk.contract import Facts
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.sdk.values import file_path, json_text, without_login
from agentlake.models.block import Block
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.usage import Usage

_UNFINISHED = ("in-progress", "queued", "blocked-on-user")
_OPENAI = re.compile(r"gpt|chatgpt|codex|o\d", re.IGNORECASE)


def session(thread: str, head: Thread) -> Facts:
    """What is known of a thread; where it is depends on the first of its folders."""
    initial = head.env.initial if head.env and head.env.initial else Initial()
    tree = (initial.trees or [Tree()])[0]
    checkout, platform = tree.repository or Repository(), initial.platform or Platform()
    parent = head.main_thread or head.origin_thread
    parent = None if parent == thread else parent
    relation = "subagent" if head.main_thread else "fork"
    yield Session(
        session_id=thread,
        parent_session_id=parent,
        relation=relation if parent else None,
        title=head.title,
        title_source="ai" if head.title else None,
        cwd=file_path(tree.uri),
        git_branch=checkout.ref.removeprefix("refs/heads/") if checkout.ref else None,
        git_commit=checkout.sha,
        repo_url=without_login(checkout.url),
        client_version=platform.client_version,
        entrypoint=platform.client,
        started_at=moment(head.created),
    )


def message(thread: str, message_id: str, said: Said) -> Facts:
    """A message and what it asks of tools; one of results only is the tools' own."""
    content = said.content
    parts = [Part("text", content)] if isinstance(content, str) else content or []
    usage, meta = said.usage or Tokens(), said.meta or Meta()
    sent_at = moment(meta.sent_at or usage.timestamp)
    role = said.role if said.role in ("user", "assistant") else "system"
    kind = {"user": "prompt", "assistant": "response"}.get(role, "meta")
    if parts and all(part.type == "tool_result" for part in parts):
        role, kind = "tool", "tool_result"
    yield Message(
        session_id=thread,
        message_id=message_id,
        role=role,
        kind=kind,
        model=usage.model,
        sent_at=sent_at,
    )
    for index, part in enumerate(parts):
        known = part.type in ("text", "thinking", "tool_use", "tool_result", "image")
        call = part.id if part.type == "tool_use" else part.tool_use_id
        yield Block(
            session_id=thread,
            message_id=message_id,
            block_index=index,
            type=part.type if known and part.type else "other",
            text=part.thinking if part.type == "thinking" else part.text,
            tool_call_id=call,
        )
        if part.type == "tool_use" and call:
            yield ToolCall(
                session_id=thread,
                message_id=message_id,
                tool_call_id=call,
                name=part.name,
                input=json_text(part.input),
                called_at=sent_at,
            )
        elif part.type == "tool_result" and call:
            run = part.run or Run()
            if run.status in _UNFINISHED:
                continue
            output = run.error if run.result is None else run.result
            yield ToolResult(
                session_id=thread,
                message_id=message_id,
                tool_call_id=call,
                text=output if isinstance(output, str) else json_text(output),
                is_error=run.status not in (None, "done") or run.error is not None,
                finished_at=sent_at,
            )


def usage(thread: str, name: str, booked: Booked) -> Facts:
    """A request by its event of the ledger, else by its message.

    Where both tell of it they have one scope, and the event is the one that counts.
    """
    event, said = booked.event, booked.message
    of_message = said.usage if said and said.usage else Tokens()
    message_id = f"{thread}/{said.message_id}" if said else None
    split = (event.tokens if event else None) or Split()
    model = (event.model if event else None) or of_message.model
    entered, wrote = split.input, split.output
    if entered is None and wrote is None:  # an event of old has but the total
        entered, wrote = of_message.input_tokens, of_message.output_tokens
    written = of_message.cache_creation_input_tokens
    if written and model and _OPENAI.match(model.rpartition("/")[2]):
        if entered in (None, 0, of_message.input_tokens):
            entered = written + (entered or 0)
        written = 0
    at = moment((event.timestamp if event else None) or of_message.timestamp)
    booking = f"{thread}/ledger/{event.id or name}" if event else f"{thread}/{name}"
    call = Usage(
        session_id=thread,
        message_id=message_id,
        usage_key=booking,
        scope=message_id or booking,
        precedence=2 if event else 1,
        model=model,
        called_at=at,
        input_tokens=entered,
        cache_read_tokens=of_message.cache_read_input_tokens,
        cache_write_tokens=written,
        output_tokens=wrote,
        is_final=said is not None,
    )
    if said is None and not any(
        (entered, wrote, split.total, event.credits if event else None)
    ):
        return  # booked, and nothing was used
    if entered is not None or wrote is not None:
        yield call
    elif split.total is not None:
        yield replace(call, unit="unsplit_tokens", amount=split.total)
    if event and message_id:  # often nothing else says when the reply came
        yield Message(
            session_id=thread,
            message_id=message_id,
            role="assistant",
            kind="response",
            model=of_message.model,
            sent_at=at,
        )
