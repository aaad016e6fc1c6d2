"""What each type of row says; usage comes first, so that nothing can cost it."""

from msgspec.structs import replace

from agentlake.adapters.claude_code import facts, rules
from agentlake.adapters.claude_code.facts import At
from agentlake.adapters.claude_code.format import SIDE_FILE, Body, Iteration, Part, Row
from agentlake.adapters.sdk.contract import Facts
from agentlake.adapters.sdk.drift import unknown
from agentlake.adapters.sdk.values import parts_of
from agentlake.models.reported_total import ReportedTotal
from agentlake.models.session import Session
from agentlake.models.tool_result import ToolResult


def assistant(row: Row, at: At) -> Facts:
    """One block of a reply, with the usage of the whole reply."""
    if (body := row.message) is None:
        return
    if body.usage and body.model != "<synthetic>" and not row.is_api_error_message:
        usage = facts.usage(row, at, body.usage, body.model)
        if row.cost_usd is not None:
            usage = replace(usage, reported_cost_usd=row.cost_usd)
        yield usage
        if body.usage.iterations:
            yield from _extra_requests(row, at, body, body.usage.iterations)
    kind = "error" if row.is_api_error_message or row.error else "response"
    message_id = body.id or row.uuid or at.key
    yield facts.message(row, at, message_id, "assistant", kind)
    yield from facts.content(row, at, message_id, parts_of(body.content, Part))


def _extra_requests(row: Row, at: At, body: Body, loop: list[Iteration]) -> Facts:
    """The requests that the counters of the reply leave out."""
    for index, inner in enumerate(loop):
        match inner.type:
            case "advisor_message":
                part, model = "advisor", inner.model
            case "compaction":
                part, model = "compaction", body.model
            case "fallback_message":
                part, model = "fallback", inner.model
            case other:
                yield from unknown("iteration", other, ("message",))
                continue
        where = body.usage.inference_geo if body.usage else None
        inner = replace(inner, inference_geo=inner.inference_geo or where)
        usage = facts.usage(row, at, inner, model)
        yield replace(usage, call_part=f"{part}:{index}")


def cost_state(row: Row, at: At) -> Facts:
    """What the program counted of the session so far, by model: to compare with."""
    for model, total in (row.model_usage or {}).items():
        yield ReportedTotal(
            session_id=at.session_id,
            counter="cost_state",
            model=model,
            reported_at=row.timestamp,
            input_tokens=total.input_tokens,
            cache_read_tokens=total.cache_read_input_tokens,
            cache_write_tokens=total.cache_creation_input_tokens,
            output_tokens=total.output_tokens,
            web_search_requests=total.web_search_requests,
            reported_cost_usd=total.cost_usd,
        )


def user(row: Row, at: At) -> Facts:
    """What came back from tools, or what a human or the program said."""
    if row.message is None:
        return
    parts = parts_of(row.message.content, Part)
    if "tool_result" in [part.type for part in parts]:
        message_id = row.uuid or at.key
        yield facts.message(row, at, message_id, "tool", "tool_result")
        yield from facts.content(row, at, message_id, parts)
    else:
        yield from _said(row, at, parts)


def _said(row: Row, at: At, parts: list[Part], *, injected: bool = False) -> Facts:
    message_id = row.uuid or at.key
    kind = _kind(row, parts)
    if kind in {"prompt", "command"} and (injected or _is_injected(row, at)):
        kind = "meta"
    yield facts.message(row, at, message_id, "user", kind)
    if kind == "prompt":
        parts = [rules.without_ide_context(part) for part in parts]
    yield from facts.content(row, at, message_id, parts)
    if kind == "command":
        yield from _renamed(at, rules.text_of(parts))
    if kind == "compaction_summary":  # old versions have no other record of it
        yield facts.compaction(row, at, None, None, is_summary=True)


def _kind(row: Row, parts: list[Part]) -> str:
    if row.is_compact_summary:
        return "compaction_summary"
    said = [rules.without_ide_context(part) for part in parts if part.type == "text"]
    if parts and not said:
        return "prompt"  # nothing but images or documents
    kinds = (rules.kind_of_text(part.text) for part in said if part.text)
    return next((kind for kind in kinds if kind != "meta"), "meta")


def _is_injected(row: Row, at: At) -> bool:
    """Whether it was the program that put the text into the user's mouth."""
    if row.origin and row.origin.kind not in {None, "human"}:
        return True
    return bool(row.is_meta or row.is_sidechain or at.agent_id)


def system(row: Row, at: At) -> Facts:
    """The program's own remarks; those on a compaction are facts of their own."""
    text = row.content if isinstance(row.content, str) else ""
    match row.subtype:
        case "compact_boundary":
            meta = row.compact_metadata
            yield facts.compaction(row, at, meta, meta.trigger if meta else None)
        case "microcompact_boundary":
            yield facts.compaction(row, at, row.microcompact_metadata, "micro")
        case "api_error":
            yield from facts.remark(row, at, "error", text)
        case "local_command" if text:
            kind = rules.kind_of_text(text)
            local = kind in {"command", "local_output"}
            yield from facts.remark(row, at, kind if local else "meta", text)
            yield from _renamed(at, text)
        case _ if text:
            yield from facts.remark(row, at, "meta", text)


def _renamed(at: At, text: str | None) -> Facts:
    """The title that a command of the user gives, where that is what it does."""
    if name := rules.renamed(text or ""):
        yield Session(session_id=at.session_id, title=name, title_source="custom")


def attachment(row: Row, at: At) -> Facts:
    """A prompt typed while the model was busy, or context that was put in."""
    if (put := row.attachment) is None:
        return
    if put.type == "queued_command":
        injected = put.is_meta or put.command_mode == "task-notification"
        parts = parts_of(put.prompt, Part)
        yield from _said(row, at, parts, injected=bool(injected))
    elif text := rules.text_of(put.content):
        yield from facts.remark(row, at, "meta", text)


def progress(row: Row, at: At) -> Facts:
    """A row of a subagent, repeated in its parent's transcript (until 2.1.3x)."""
    data = row.data
    if data is None or data.type != "agent_progress":
        return
    if isinstance(data.message, Row):
        inner = _with_context(data.message, row)
        whose = replace(at, agent_id=data.agent_id or at.agent_id)
        if inner.type == "assistant":
            yield from assistant(inner, whose)
        elif inner.type == "user":
            found = user(inner, whose)
            yield from (fact for fact in found if isinstance(fact, ToolResult))
    if data.agent_id:
        yield facts.subagent(row, at, data.agent_id, row.parent_tool_use_id)


def _with_context(inner: Row, row: Row) -> Row:
    """The row within a row, with what only the outer one says."""
    return replace(
        inner,
        is_sidechain=True,
        timestamp=inner.timestamp or row.timestamp,
        entrypoint=row.entrypoint,
        cwd=row.cwd,
        version=row.version,
        git_branch=row.git_branch,
        team_name=row.team_name,
        request_session_id=row.request_session_id,
        forked_from=row.forked_from,
    )


def title(row: Row, at: At) -> Facts:
    """A title; a summary names the session that has the leaf, wherever it stands."""
    leaf: str | None = None
    match row.type:
        case "custom-title":
            source, text = "custom", row.custom_title
        case "ai-title":
            source, text = "ai", row.ai_title
        case _:
            source, text, leaf = "summary", row.summary, row.leaf_uuid
    if text:
        yield Session(
            session_id=at.session_id,
            title=text,
            title_source=source,
            leaf_record_id=leaf,
        )


def relation(row: Row, at: At) -> Facts:
    """Where sessions and agents come from."""
    session = at.session_id
    match row.type:
        case "continued-in" if child := row.continued_in_session_id:
            yield facts.link(row, child, session, "continuation")
        case "derived-from":
            for item in row.sessions if isinstance(row.sessions, list) else ():
                match item:
                    case str(parent) | {"sessionId": str(parent)} if parent:
                        yield facts.link(row, session, parent, "fork")
        case "fork-context-ref" if origin := row.parent_session_id:
            kind = "subagent" if at.agent_id else "fork"
            yield facts.link(row, session, origin, kind, at.agent_id)
        case "queue-operation" if found := rules.agent_and_call(row.content):
            yield facts.subagent(row, at, *found)  # its prompt comes again as a row


def handed_over(row: Row, at: At) -> Facts:
    """A session that goes on in the background, said by its first row."""
    if row.session_kind == "bg" and row.parent_uuid is None and row.uuid:
        yield Session(session_id=at.session_id, relation="continuation")


def rejoined(row: Row, message: dict[str, object]) -> Row:
    """The row with a text that was spread into its message."""
    text = rules.rejoined(message)
    return replace(row, message=replace(row.message or Body(), content=text))


def side_file(data: bytes, at: At) -> Facts:
    """What the side file of an agent says: its kind, and the call that spawned it."""
    meta, rejects = SIDE_FILE.decode(data)
    yield from rejects
    yield Session(
        session_id=at.session_id,
        agent_id=at.agent_id,
        relation="subagent",
        agent_type=meta.agent_type,
        cwd=meta.cwd,
    )
    if at.agent_id and meta.tool_use_id:
        yield facts.subagent(Row(), at, at.agent_id, meta.tool_use_id)
