"""The editor's chats: one row for each chat, and one for each of its messages."""

from collections.abc import Iterator
from datetime import datetime

from agentlake.adapters.cursor.format import (
    BUBBLE,
    COMPOSER,
    EDITOR,
    ROW,
    Bubble,
    Composer,
    Model,
    Tokens,
    Tool,
)
from agentlake.adapters.sdk.contract import Facts, Record, Reject, Table
from agentlake.adapters.sdk.decode import Unreadable, untyped
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.sdk.values import file_path, json_text, raw_json
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.link import Link
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult
from agentlake.models.turn import Turn
from agentlake.models.usage import Usage

_CHAT, _MESSAGE = "composerData:", "bubbleId:"
_USER, _MODEL = ("user", "prompt"), ("assistant", "response")
_ROLES = {1: _USER, "user": _USER, 2: _MODEL, "ai": _MODEL}
_TASK = "task-"
"""How the id of a chat begins that a tool began; the id of its call follows."""

# A time may be a number or a text; JSON that is none must not stop the reading.
_TIME = """case
    when not json_valid(cast(value as text)) then null
    when json_type(cast(value as text), '$.createdAt') = 'text'
    then cast(round(86400000 * (
        julianday(json_extract(cast(value as text), '$.createdAt')) - 2440587.5
    )) as integer)
    else json_extract(cast(value as text), '$.createdAt') end"""
_UP_TO_ID = "rtrim(cursorDiskKV.key, replace(cursorDiskKV.key, ':', ''))"
_OF_CHAT = f"""
    from (
        select case when json_valid(cast(above.value as text))
            then cast(above.value as text) end as chat from cursorDiskKV as above
        where above.key = '{_CHAT}' || substr(
            {_UP_TO_ID}, {len(_MESSAGE) + 1}, length({_UP_TO_ID}) - {len(_MESSAGE) + 1}
        )
    ) where chat is not null
"""
_HEADERS = "'$.fullConversationHeadersOnly'"
_PLACE = f"""(
    select json_extract(chat, '$.createdAt') + 1 + coalesce(
        (
            select header.key from json_each(chat, {_HEADERS}) as header
            where header.type = 'object' and json_extract(header.value, '$.bubbleId')
            = substr(cursorDiskKV.key, length({_UP_TO_ID}) + 1)
        ),
        json_array_length(chat, {_HEADERS})
    ) {_OF_CHAT}
)"""
TABLES = (
    Table(
        name="cursorDiskKV",
        key=("key",),
        # A write deletes the old row. Ranges use the index, `like` would not.
        above="rowid",
        where=f"key >= '{_CHAT}' and key < 'composerData;'"
        f" or key >= '{_MESSAGE}' and key < 'bubbleId;'",
        # Messages without a time stand at their place in the list of their chat.
        order=f"coalesce({_TIME}, {_PLACE})",
        instead={
            "value": "cast(value as text)",
            "chat_created_at": f"""case when {_TIME} is null
            then (select json_extract(chat, '$.createdAt') {_OF_CHAT}) end""",
        },
    ),
)


def row(record: Record) -> Facts:
    """A chat, or a message; the message's key names its chat."""
    found, rejects = ROW.decode(record.data)
    yield from rejects
    if found.value is None:
        return
    data = found.value.encode()
    if found.key.startswith(_CHAT):
        composer, rejects = COMPOSER.decode(data)
        yield from chat(found.key.removeprefix(_CHAT), composer)
    else:
        session_id, _, bubble_id = found.key.removeprefix(_MESSAGE).rpartition(":")
        bubble, rejects = BUBBLE.decode(data)
        began = moment(found.chat_created_at)
        yield from _message(session_id, bubble_id, bubble, began)
    yield from rejects


def chat(session_id: str, composer: Composer) -> Facts:
    """A chat, with its messages if it holds them itself."""
    began = moment(composer.created_at)
    changed = moment(composer.last_updated_at)
    for model, cost in (composer.usage_data or {}).items():
        if cost.cost_in_cents:
            usd = cost.cost_in_cents / 100
            yield Usage(
                session_id=session_id,
                kind="snapshot",
                usage_key=f"{session_id}/{model}",
                granularity="session",
                model=Model(model).name,
                called_at=changed or began,
                unit="usd",
                amount=usd,
                reported_cost_usd=usd,
            )
    for bubble_id, bubble in _messages_within(session_id, composer):
        yield from _message(session_id, bubble_id, bubble, began)
    yield Session(
        session_id=session_id,
        title=composer.name or None,
        title_source="ai",
        started_at=began,
    )
    set_to = (composer.model_config or Model()).name
    if set_to:
        yield Turn(session_id=session_id, kind="context", model=set_to, began_at=began)
    for child in composer.sub_composer_ids or ():
        yield Link(
            session_id=child,
            parent_session_id=session_id,
            relation="subagent",
            tool_call_id=child.removeprefix(_TASK) if _TASK in child else None,
        )
    if composer.latest_conversation_summary:
        yield Compaction(
            session_id=session_id, compaction_id=f"{session_id}/latest summary"
        )


def _messages_within(
    session_id: str, composer: Composer
) -> Iterator[tuple[str, Bubble]]:
    """The messages of an old chat, in its own order."""
    for place, bubble in enumerate(composer.conversation or ()):
        yield bubble.bubble_id or f"{session_id}/{place}", bubble
    left = dict(composer.conversation_map or {})
    for header in composer.full_conversation_headers_only or ():
        if (bubble_id := header.bubble_id or "") in left:
            yield bubble_id, left.pop(bubble_id)
    yield from left.items()


def _message(
    session_id: str, bubble_id: str, bubble: Bubble, began: datetime | None
) -> Facts:
    at = moment(bubble.created_at)
    model = (bubble.model_info or Model()).name
    tokens = bubble.token_count or Tokens()
    if tokens.input_tokens or tokens.output_tokens:
        # Each message of a request may repeat what all of it used.
        yield Usage(
            session_id=session_id,
            message_id=bubble_id,
            request_id=bubble.request_id or None,
            usage_key=bubble.request_id or bubble_id,
            model=model,
            called_at=at or began,
            input_tokens=tokens.input_tokens,
            output_tokens=tokens.output_tokens,
            is_estimated=True,
        )
    if bubble.type not in _ROLES:
        yield Reject(f"message of an unknown type: {bubble.type!r}")
        return
    role, kind = _ROLES[bubble.type]
    uri = next(iter(bubble.workspace_uris or ()), None)
    yield Message(
        session_id=session_id,
        message_id=bubble_id,
        turn_id=bubble.request_id or None,
        role=role,
        kind=kind,
        model=model if role == "assistant" else None,
        sent_at=at,
        cwd=file_path(uri or bubble.workspace_project_dir or None),
        precedence=EDITOR,
    )
    thought = bubble.thinking.text if bubble.thinking else None
    said = [("thinking", thought), ("text", bubble.text or _typed(bubble.rich_text))]
    index = 0
    for type_, text in said:
        if text:
            yield Block(
                session_id=session_id,
                message_id=bubble_id,
                block_index=index,
                type=type_,
                text=text,
            )
            index += 1
    if bubble.tool_former_data:
        yield from _tool(session_id, bubble_id, index, bubble.tool_former_data, at)


def _typed(rich: object) -> str | None:
    """The texts in what an old editor kept of a prompt: a tree, as JSON in a text."""
    if not isinstance(rich, str) or not rich.lstrip().startswith("{"):
        return rich if isinstance(rich, str) and rich else None
    try:
        tree = untyped(rich.encode())
    except Unreadable:
        return rich
    return "".join(_texts(tree)).strip() or None


def _texts(node: object) -> Iterator[str]:
    match node:
        case {"type": "linebreak"}:
            yield "\n"
        case {"text": str(text)}:
            yield text
        case {"children": list(inner), **rest}:
            for child in inner:
                yield from _texts(child)
            if rest.get("type") == "paragraph":
                yield "\n"
        case {"root": root}:
            yield from _texts(root)


def _tool(
    session_id: str, bubble_id: str, index: int, tool: Tool, at: datetime | None
) -> Facts:
    """A call and, in the same message, what came of it."""
    call = tool.tool_call_id or bubble_id
    yield Block(
        session_id=session_id,
        message_id=bubble_id,
        block_index=index,
        type="tool_use",
        tool_call_id=call,
    )
    yield ToolCall(
        session_id=session_id,
        message_id=bubble_id,
        tool_call_id=call,
        name=tool.name,
        input=raw_json(tool.raw_args or tool.params or None),
        called_at=at,
    )
    result, has_failed = tool.result, tool.status == "error"
    if result or has_failed or tool.status == "completed":
        yield ToolResult(
            session_id=session_id,
            message_id=bubble_id,
            tool_call_id=call,
            text=result if isinstance(result, str) else json_text(result),
            is_error=has_failed,
        )
    if (tool.name or "").startswith("task"):
        yield Link(
            session_id=f"{_TASK}{call}",
            parent_session_id=session_id,
            relation="subagent",
            tool_call_id=call,
            linked_at=at,
        )
