"""Transcripts: the texts of a session, all that some of the newer versions write."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from agentlake.adapters.families.copilot import talk
from agentlake.adapters.families.copilot.format import EVENT, Data
from agentlake.adapters.families.copilot.talk import At
from agentlake.adapters.sdk.contract import Facts, Keyed, Record, Reject
from agentlake.adapters.sdk.decode import Unreadable, encode, untyped
from agentlake.adapters.sdk.splice import spans
from agentlake.adapters.sdk.values import one_step
from agentlake.adapters.vscode_copilot.format import SUFFIX
from agentlake.models.block import Block
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import ToolResult

TRANSCRIPT = 1
"""Precedence of a transcript; a chat tells the same, and more."""


def explode(path: str, data: bytes, folder: str | None) -> Iterator[Keyed]:
    """The folder, then each event by its id; what is no event is kept as damaged."""
    session = one_step(Path(path).stem)
    yield Keyed(f"{session}/session", encode({"folder": folder}), 0)
    *lines, last = data.split(b"\n")
    for seq, line in enumerate(lines, 1):
        for part in spans(line.strip(b"\0 \t\r")):
            yield _keyed(session, seq, part.data, is_whole=part.is_whole)
    for part in spans(last.strip(b"\0 \t\r")):
        if part.is_whole:  # the rest comes with its end
            yield _keyed(session, len(lines) + 1, part.data, is_whole=True)


def _keyed(session: str, seq: int, data: bytes, *, is_whole: bool) -> Keyed:
    if not is_whole:
        return Keyed(f"{session}/damaged/{seq}", data, seq)
    try:
        own = untyped(data).get("id")
    except Unreadable:
        own = None
    name = own if isinstance(own, str) and own else f"#{seq}"
    return Keyed(f"{session}/event/{name}", data, seq)


def _started(at: At, data: Data) -> Facts:
    yield Session(
        session_id=at.session,
        client_version=data.copilot_version,
        started_at=data.start_time or at.at,
    )


_EVENTS: dict[str, Callable[[At, Data], Facts]] = {
    "session.start": _started,
    "user.message": talk.prompt,
    "assistant.message": talk.reply,
    "assistant.reasoning": talk.reasoning,
    "tool.execution_start": talk.call,
    "tool.execution_complete": talk.result,
    "session.error": talk.error,
}


def event(session: str, record: Record) -> Facts:
    """What an event says."""
    told, rejects = EVENT.decode(record.data)
    make = _EVENTS.get(told.type or "")
    if make is None:
        return
    name = told.id or record.key.rpartition("/")[2]
    at = At(session, told.agent_id or None, name, told.timestamp, TRANSCRIPT)
    for fact in make(at, told.data or Data()):
        yield _without_suffix(fact)
    yield from rejects


def _without_suffix(fact: Any) -> Any:
    if isinstance(fact, Block | ToolCall | ToolResult) and fact.tool_call_id:
        return replace(fact, tool_call_id=SUFFIX.sub("", fact.tool_call_id))
    return fact


def damaged(data: bytes) -> Facts:
    """What is no event."""
    untyped(data)
    yield Reject("no event")
