"""What each type of row says; usage comes first, so that nothing can cost it."""

import msgspec

from agentlake.adapters.qwen_code import rules
from agentlake.adapters.qwen_code.format import ROW, SIDE_FILE, Part, Result, Row
from agentlake.adapters.sdk.contract import Facts, Reject
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.turn import Turn
from agentlake.models.usage import Usage


class At(msgspec.Struct, frozen=True, gc=False):
    """Whose row it is, and what names it when it has no id of its own."""

    session_id: str
    agent_id: str | None
    key: str

    def name(self, row: Row) -> str:
        """The row's id; some builds gave one id twice, at another time."""
        moment = row.timestamp.isoformat() if row.timestamp else self.session_id
        return f"{row.uuid or self.key}@{moment}"

    @property
    def turn_id(self) -> str | None:
        """What a subagent's rows have in common with the side file: the model."""
        return f"agent-{self.agent_id}" if self.agent_id else None


def facts(line: bytes, at: At) -> Facts:
    """The facts of a line."""
    for number, data in enumerate(rules.objects(line)):
        try:
            row, rejects = ROW.decode(data)
        except Unreadable as error:
            yield Reject(str(error))
            continue
        key = f"{at.key}.{number}" if number else at.key
        whose = At(at.session_id, row.agent_id or at.agent_id, key)
        yield from _row(row, whose)
        yield from rejects


def _row(row: Row, at: At) -> Facts:
    match row.type:
        case "assistant":
            yield from _usage(row, at)
            yield from _message(row, at, "assistant", "response")
        case "user" if rules.is_answer(row.message):
            yield from _message(row, at, "tool", "tool_result")
            yield from _results(row, at)
        case "user":
            is_injected = (
                at.agent_id
                or row.subtype in ("cron", "notification")
                or rules.is_injected(row.message)
            )
            kind = "meta" if is_injected else "prompt"
            yield from _message(row, at, "user", kind)
            if any(part.function_response for part in _parts(row)):
                yield from _results(row, at)
        case "tool_result":
            yield from _message(row, at, "tool", "tool_result")
            yield from _results(row, at)
        case "system":
            yield from _system(row, at)
        case _:
            return
    if at.agent_id:
        yield Session(
            session_id=at.session_id,
            agent_id=at.agent_id,
            relation="subagent",
            agent_type=row.agent_name,
        )


def _origin(row: Row) -> str | None:
    return row.forked_from.session_id if row.forked_from else None


def _usage(row: Row, at: At) -> Facts:
    tokens = row.usage_metadata
    if tokens is None or rules.is_nothing(tokens):
        return
    uncached, read = rules.prompt(tokens)
    yield Usage(
        session_id=at.session_id,
        agent_id=at.agent_id,
        message_id=at.name(row),
        record_id=row.uuid,
        forked_from_session_id=_origin(row),
        turn_id=None if row.model else at.turn_id,
        model=row.model,
        called_at=row.timestamp,
        input_tokens=uncached,
        cache_read_tokens=read,
        cache_write_tokens=0,
        output_tokens=rules.output(tokens),
        reasoning_tokens=tokens.thoughts_token_count,
    )


def _message(row: Row, at: At, role: str, kind: str, text: str | None = None) -> Facts:
    name = at.name(row)
    yield Message(
        session_id=at.session_id,
        agent_id=at.agent_id,
        message_id=name,
        record_id=row.uuid,
        parent_record_id=row.parent_uuid,
        forked_from_session_id=_origin(row),
        role=role,
        kind=kind,
        model=row.model,
        sent_at=row.timestamp,
        is_sidechain=row.is_sidechain,
        cwd=row.cwd,
        git_branch=row.git_branch,
        client_version=row.version,
        label=row.subtype if kind == "meta" else None,
    )
    parts = _parts(row)
    for index, part in enumerate(parts):
        call, answered = part.function_call, part.function_response
        call_id = answered.id if answered else None
        if call:
            call_id = call.id or f"{name}.{index}"
        yield Block(
            session_id=at.session_id,
            agent_id=at.agent_id,
            message_id=name,
            block_index=index,
            type=rules.block_type(part),
            text=rules.typed(part.text) if kind == "prompt" else part.text,
            tool_call_id=call_id,
        )
        if call and call_id:
            yield ToolCall(
                session_id=at.session_id,
                agent_id=at.agent_id,
                message_id=name,
                tool_call_id=call_id,
                name=call.name,
                input=rules.arguments(part),
                called_at=row.timestamp,
            )
    if text:
        yield Block(
            session_id=at.session_id,
            agent_id=at.agent_id,
            message_id=name,
            block_index=len(parts),
            type="text",
            text=text,
        )


def _parts(row: Row) -> list[Part]:
    return row.message.parts or [] if row.message else []


def _results(row: Row, at: At) -> Facts:
    """One row may hold the answers to several calls, and how one of them ended."""
    answers = [part.function_response for part in _parts(row) if part.function_response]
    ended = row.tool_call_result or Result()
    known = {answered.id: answered for answered in answers}
    if ended.call_id and len(answers) == 1 and not answers[0].id:
        known = {ended.call_id: answers[0]}
    ids = dict.fromkeys((*known, ended.call_id))
    for call_id in ids:
        if not call_id:
            continue
        is_ended = call_id == ended.call_id
        failed = ended.error is not None or ended.status in ("error", "cancelled")
        took = ended.duration_ms
        yield ToolResult(
            session_id=at.session_id,
            agent_id=at.agent_id,
            message_id=at.name(row),
            tool_call_id=call_id,
            text=rules.answer(known.get(call_id))
            or (rules.shown(ended) if is_ended else None),
            is_error=failed if is_ended else None,
            finished_at=row.timestamp,
            duration_ms=int(took) if is_ended and took is not None else None,
        )
    if not any(ids):
        yield Reject("`tool_result` does not name its call")


def _system(row: Row, at: At) -> Facts:
    """The program's own rows; telemetry and replays repeat what other rows have."""
    payload = row.system_payload
    if payload is None:
        return
    match row.subtype:
        case "chat_compression":
            info = payload.info
            yield Compaction(
                session_id=at.session_id,
                agent_id=at.agent_id,
                compaction_id=at.name(row),
                compacted_at=row.timestamp,
                tokens_before=info.original_token_count if info else None,
                tokens_after=info.new_token_count if info else None,
            )
        case "custom_title" if payload.custom_title and not at.agent_id:
            yield Session(
                session_id=at.session_id,
                title=payload.custom_title,
                title_source="ai" if payload.title_source == "auto" else "custom",
            )
        case "parent_session" if payload.parent_session_id:
            yield Session(
                session_id=at.session_id,
                parent_session_id=payload.parent_session_id,
                relation="fork",
            )
        case "slash_command" if payload.raw_command and payload.phase != "result":
            yield from _message(row, at, "user", "command", payload.raw_command)


def side_file(data: bytes, at: At) -> Facts:
    """What kind a subagent is of, and the model that it asks."""
    meta, rejects = SIDE_FILE.decode(data)
    yield from rejects
    yield Session(
        session_id=at.session_id,
        agent_id=at.agent_id,
        relation="subagent",
        agent_type=meta.agent_type or meta.agent_name,
    )
    if meta.model:
        yield Turn(
            session_id=at.session_id,
            turn_id=at.turn_id,
            kind="context",
            model=meta.model,
        )
