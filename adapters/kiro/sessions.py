"""Sessions of the newer Kiro CLI: a log of lines, and a document with what turns cost.

The document has a list of turns that grows; each is a record by its first message.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import msgspec

from agentlake.adapters.kiro.format import (
    COMPANION,
    HEAD,
    LINE,
    TURN,
    Data,
    Head,
    Part,
    Said,
    State,
    Turn,
)
from agentlake.adapters.kiro.talk import Say, head_facts
from agentlake.adapters.sdk.contract import Facts, Keyed, Record, Reject
from agentlake.adapters.sdk.decode import Unreadable, encode
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.sdk.values import json_text
from agentlake.models.compaction import Compaction
from agentlake.models.usage import Usage


def explode(session_id: str, data: bytes) -> Iterator[Keyed]:
    """The session, then its turns. Raises Unreadable."""
    told, rejects = COMPANION.decode(data)
    state = told.session_state or State()
    info = state.rts_model_state and state.rts_model_state.model_info
    head = {
        "session_id": session_id,
        "cwd": told.cwd,
        "title": told.title,
        "created_at": told.created_at,
        "model": info.model_id if info else None,
    }
    yield Keyed("session", encode(head))
    turns = state.conversation_metadata
    for raw in turns.user_turn_metadatas if turns else []:
        turn = {"session_id": session_id, "model": head["model"], "cost": raw}
        yield Keyed(f"turns/{_turn_id(raw)}", encode(turn))
    if rejects:
        reasons = [one.reason for one in rejects]
        yield Keyed("damaged", encode({"session_id": session_id, "reasons": reasons}))


def _turn_id(raw: msgspec.Raw) -> str:
    try:
        turn, _ = TURN.decode(bytes(raw))
    except Unreadable:
        turn = Turn()
    ids = [one for one in turn.message_ids or () if one]
    if ids:
        return ids[0]
    if turn.end_timestamp:
        return str(turn.end_timestamp)
    return sha256(bytes(raw)).hexdigest()[:16]


def document(record: Record) -> Facts:
    """A record of the document."""
    head, rejects = HEAD.decode(record.data)
    if record.key == "session":
        yield from head_facts(head)
    elif record.key.startswith("turns/"):
        yield from _turn(head)
    yield from map(Reject, head.reasons)
    yield from rejects


def _turn(head: Head) -> Facts:
    """What a turn cost: credits, and tokens if they were counted."""
    turn, rejects = TURN.decode(bytes(head.cost))
    name = f"{head.session_id}/{_turn_id(head.cost)}"
    values = [
        one.value
        for one in turn.metering_usage or ()
        if one.value is not None and (one.unit or "credit").startswith("credit")
    ]
    at = moment(turn.end_timestamp)
    if sum(values):
        yield Usage(
            session_id=head.session_id,
            usage_key=f"{name}/credits",
            model=head.model,
            called_at=at,
            granularity="turn",
            unit="credits",
            amount=sum(values),
        )
    if turn.input_token_count or turn.output_token_count:
        yield Usage(
            session_id=head.session_id,
            usage_key=f"{name}/tokens",
            model=head.model,
            called_at=at,
            granularity="turn",
            input_tokens=turn.input_token_count,
            output_tokens=turn.output_token_count,
        )
    yield from rejects


def line(session_id: str, record: Record) -> Facts:
    """A line of the log."""
    told, rejects = LINE.decode(record.data)
    said = told.data or Said()
    at = moment(said.meta.timestamp) if said.meta else None
    name = said.message_id or f"{session_id}:{record.key}"
    match told.kind:
        case "Prompt":
            texts = [one.data for one in said.content if isinstance(one.data, str)]
            say = Say.prompt(session_id, "\n".join(texts), name, at)
            yield from say.message("user", "prompt")
            yield from _blocks(say, said.content)
        case "AssistantMessage":
            say = Say(session_id, name, at)
            yield from say.message("assistant", "response")
            yield from _blocks(say, said.content)
        case "ToolResults":
            data = (one.data for one in said.content)
            calls = [one.tool_use_id for one in data if isinstance(one, Data)]
            say = Say.results(session_id, calls[0] if calls else None, name, at)
            yield from say.message("tool", "tool_result")
            yield from _blocks(say, said.content)
        case "Clear":
            yield Compaction(session_id=session_id, compaction_id=name, compacted_at=at)
    yield from rejects


def _blocks(say: Say, content: list[Part]) -> Facts:
    for part in content:
        data = part.data if isinstance(part.data, Data) else Data()
        match part.kind:
            case "text" if isinstance(part.data, str):
                yield say.text(part.data)
            case "toolUse":
                yield from say.call(data.tool_use_id, data.name, data.input)
            case "toolResult":
                text = _text(data.content)
                yield from say.result(data.tool_use_id, text, data.status)
            case "image":
                yield say.block("image")
            case _:
                yield say.block("other")


def _text(content: Any) -> str | None:
    """The texts of an answer, one below the other; what is JSON stays JSON."""
    items = content if isinstance(content, list) else [content]
    said = []
    for item in items:
        value = item.get("data") if isinstance(item, dict) and "data" in item else item
        said.append(value if isinstance(value, str) else json_text(value))
    return "\n".join(text for text in said if text) or None
