"""From rows of Antigravity to facts."""

from datetime import datetime

from agentlake.adapters.antigravity.format import (
    ANSWER,
    CONVERSATION_ROW,
    DONE,
    HISTORY,
    STEP_ROW,
    STEPS,
    TYPED,
    USAGE_ROW,
    USER,
    About,
    Generation,
    Metadata,
    Payload,
    StepRow,
    Used,
)
from agentlake.adapters.sdk.blobs import Blob
from agentlake.adapters.sdk.contract import Facts, Record, Reject
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.sdk.moments import from_epoch
from agentlake.adapters.sdk.protobuf import Fields
from agentlake.adapters.sdk.values import file_path, raw_json
from agentlake.models.block import Block
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.usage import Usage

_MOST_TOKENS = 1 << 40
_LONGEST_NAME = 64
_PLACEHOLDER = "MODEL_PLACEHOLDER"


def usage(session_id: str, record: Record) -> Facts:
    """What one call used; a call that used nothing was none."""
    row, rejects = USAGE_ROW.decode(record.data)
    yield from rejects
    chat = _fields(row.data).message(Generation.CHAT)
    used = chat.message(Generation.USAGE) if chat else None
    if chat is None or used is None:
        return
    counts: dict[int, int | None] = {}
    for number in (
        Used.INPUT,
        Used.CACHE_READ,
        Used.OUTPUT,
        Used.ANSWER,
        Used.THINKING,
    ):
        count = counts[number] = used.number(number)
        if count is not None and count > _MOST_TOKENS:
            counts[number] = None
            yield Reject(f"field {number} of a usage is no count: {count}")
    output, thinking = counts[Used.OUTPUT], counts[Used.THINKING]
    if output is None and (counts[Used.ANSWER] or thinking):
        output = (counts[Used.ANSWER] or 0) + (thinking or 0)
    if counts[Used.INPUT] or counts[Used.CACHE_READ] or output:
        response = used.text(Used.RESPONSE_ID) or None
        yield Usage(
            session_id=session_id,
            request_id=response,
            usage_key=response or f"{session_id}/{row.idx}",
            model=_model(chat),
            called_at=_called_at(chat)
            or _moment(row.step, Metadata.CREATED)
            or _moment(row.conversation, About.CREATED),
            input_tokens=counts[Used.INPUT] or 0,
            cache_read_tokens=counts[Used.CACHE_READ] or 0,
            output_tokens=output or 0,
            reasoning_tokens=thinking,
        )


def _model(chat: Fields) -> str | None:
    """The name that is shown, which prices know; else the one used within."""
    shown, internal = (
        name if name and _is_name(name) else None
        for name in (chat.text(Generation.DISPLAY_NAME), chat.text(Generation.MODEL))
    )
    is_telling = shown is not None and not shown.startswith(_PLACEHOLDER)
    return shown if is_telling else internal or shown


def _is_name(text: str) -> bool:
    """Whether it is one: such a field may hold a message, whose bytes are text, too."""
    is_text = text.isprintable() and "\ufffd" not in text
    return is_text and len(text) <= _LONGEST_NAME and any(map(str.isalpha, text))


def _called_at(chat: Fields) -> datetime | None:
    """When the call was, if it can be read: what it used does not hang on it."""
    try:
        info = chat.message(Generation.INFO)
        return info.moment(Generation.TIME) if info else None
    except Unreadable:
        return None


def _moment(blob: Blob | None, number: int) -> datetime | None:
    try:
        return _fields(blob).moment(number)
    except Unreadable:
        return None


def _fields(blob: Blob | None) -> Fields:
    return Fields(blob.bytes() if blob else b"")


def conversation(session_id: str, record: Record) -> Facts:
    """When it began, and in which folder."""
    row, rejects = CONVERSATION_ROW.decode(record.data)
    yield from rejects
    fields = _fields(row.data)
    yield Session(
        session_id=session_id,
        cwd=_folder(fields),
        started_at=fields.moment(About.CREATED),
    )


def _folder(about: Fields) -> str | None:
    """The path of the first address of a file among what may be the workspace."""
    uris = [about.text(About.FOLDER), about.text(About.WORKSPACE)]
    try:
        workspace = about.message(About.WORKSPACE)
    except Unreadable:
        workspace = None
    uris.append(workspace.text(About.URI) if workspace else None)
    return next((file_path(uri) for uri in uris if uri and uri[:7] == "file://"), None)


def step(session_id: str, record: Record) -> Facts:
    """A prompt, an answer, or what a tool answered; other steps are only kept."""
    row, rejects = STEP_ROW.decode(record.data)
    yield from rejects
    payload = _fields(row.step_payload)
    message_id = f"{session_id}/{row.idx}"
    at = _moment(row.metadata, Metadata.CREATED)
    if row.step_type == USER:
        prompt = payload.message(Payload.PROMPT)
        yield _message(session_id, message_id, "user", "prompt", at)
        if text := prompt.text(Payload.TYPED) if prompt else None:
            yield _block(session_id, message_id, 0, "text", text=text)
    elif row.step_type == ANSWER:
        yield _message(session_id, message_id, "assistant", "response", at)
        answer = payload.message(Payload.ANSWER)
        if answer:
            yield from _answer(session_id, message_id, answer, at)
    else:
        yield from _result(session_id, message_id, row, payload, at)


def _message(
    session_id: str, message_id: str, role: str, kind: str, at: datetime | None
) -> Message:
    return Message(
        session_id=session_id,
        message_id=message_id,
        role=role,
        kind=kind,
        sent_at=at,
        precedence=STEPS,
    )


def _block(
    session_id: str,
    message_id: str,
    index: int,
    type_: str,
    *,
    text: str | None = None,
    call: str | None = None,
) -> Block:
    return Block(
        session_id=session_id,
        message_id=message_id,
        block_index=index,
        type=type_,
        text=text,
        tool_call_id=call,
    )


def _answer(
    session_id: str, message_id: str, answer: Fields, at: datetime | None
) -> Facts:
    thought = answer.text(Payload.THINKING)
    text = answer.text(Payload.TEXT) or answer.text(Payload.OTHER_TEXT)
    said = [(type_, it) for type_, it in (("thinking", thought), ("text", text)) if it]
    for index, (type_, it) in enumerate(said):
        yield _block(session_id, message_id, index, type_, text=it)
    for index, data in enumerate(answer.all(Payload.CALLS), len(said)):
        call = Fields(data)
        call_id = call.text(Payload.ID)
        if not call_id:
            yield Reject("call of a tool without id")
            continue
        yield _block(session_id, message_id, index, "tool_use", call=call_id)
        yield ToolCall(
            session_id=session_id,
            message_id=message_id,
            tool_call_id=call_id,
            name=call.text(Payload.NAME),
            input=raw_json(call.text(Payload.INPUT) or None),
            called_at=at,
        )


def _result(
    session_id: str,
    message_id: str,
    row: StepRow,
    payload: Fields,
    at: datetime | None,
) -> Facts:
    """A step that answers a call, which it names; the time is that of its start."""
    tool = payload.message(Payload.TOOL)
    call = tool.message(Payload.CALL) if tool else None
    call_id = call.text(Payload.ID) if call else None
    if not call_id:
        return
    command = payload.message(Payload.COMMAND)
    result = command.message(Payload.RESULT) if command else None
    printed = result.text(Payload.PRINTED) if result else None
    failure = payload.message(Payload.FAILURE)
    reason = failure.text(Payload.REASON) if failure else None
    yield _message(session_id, message_id, "tool", "tool_result", at)
    yield _block(session_id, message_id, 0, "tool_result", call=call_id)
    if printed or reason or row.status == DONE:
        yield ToolResult(
            session_id=session_id,
            message_id=message_id,
            tool_call_id=call_id,
            text=printed or reason,
            is_error=bool(reason and not printed),
        )


def typed(record: Record) -> Facts:
    """What was typed; all that is known of a conversation that is encrypted."""
    line, rejects = TYPED.decode(record.data)
    if line.conversation_id and line.display:
        message_id = f"{line.conversation_id}/typed/{record.key}"
        yield Message(
            session_id=line.conversation_id,
            message_id=message_id,
            role="user",
            kind="command" if line.type == "slash_command" else "prompt",
            sent_at=from_epoch(line.timestamp),
            cwd=line.workspace or None,
            precedence=HISTORY,
        )
        yield _block(line.conversation_id, message_id, 0, "text", text=line.display)
    yield from rejects
