"""The classic format: a folder per task, its files rewritten with each change."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agentlake.adapters.cline_family import history, lists, requests, shown
from agentlake.adapters.cline_family.format import ENTRY, Condensed, Entry, ModelInfo
from agentlake.adapters.cline_family.lists import BEHIND_LISTS, objects
from agentlake.adapters.sdk.contract import Facts, Keyed, Record, Reject
from agentlake.adapters.sdk.decode import Unreadable, encode, untyped
from agentlake.adapters.sdk.moments import moment
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.fact import Fact
from agentlake.models.message import Message

_REQUESTS = ("api_req_started", "deleted_api_reqs")
_KINDS = {
    "task": ("user", "prompt"),
    "user_feedback": ("user", "prompt"),
    "text": ("assistant", "response"),
    "reasoning": ("assistant", "thinking"),
    "completion_result": ("assistant", "response"),
    "followup": ("assistant", "response"),
    "plan_mode_respond": ("assistant", "response"),
    "error": ("system", "error"),
    "api_req_failed": ("system", "error"),
}
"""Which entries are messages; tools are in the history that the model got."""
HISTORY = "api_conversation_history.json"
SEEN = ("ui_messages.json", "claude_messages.json")
"""What the user saw, also under its name of 2024."""


def explode_seen(task: str, data: bytes, *, is_alone: bool) -> Iterator[Keyed]:
    """Entries by their time; the first text is the task's own, the user's.

    The requests are one record: as some are taken back, those left are the truth.
    Tools are told by the model's history: only entries `alone` tell of them.
    """
    entries = [one for one in objects(data) if not one.get("partial")]
    kinds = [one.get("say") for one in entries]
    asked = [one for one, kind in zip(entries, kinds, strict=True) if kind in _REQUESTS]
    times = [moment(one.get("ts")) for one in entries]
    newest = max((int(at.timestamp() * 1000) for at in times if at), default=0)
    body = {"newest": newest, "entries": asked}
    yield Keyed(f"requests|{task}", encode(body), len(entries))
    if (sent := next(filter(_tells_folder, asked), None)) is not None:
        yield Keyed(f"folder|{task}", encode(sent), BEHIND_LISTS)
    opening = next((n for n, kind in enumerate(kinds) if kind in ("text", "task")), -1)
    for place, (one, is_call) in enumerate(shown.with_answers(entries)):
        if kinds[place] not in _REQUESTS:
            kind = "tool" if is_call and is_alone else "entry"
            kind = "opening" if place == opening else kind
            yield Keyed(f"{kind}|{task}/{one.get('ts', place)}", encode(one), place)


def _tells_folder(request: dict[str, Any]) -> bool:
    try:
        return requests.folder_of(ENTRY.decode(encode(request))[0]) is not None
    except Unreadable:
        return False


EXPLODE: dict[str, Callable[[str, bytes], Iterable[Keyed]]] = {
    "task_metadata.json": lists.explode_metadata,
    "history_item.json": lists.explode_item,
    "taskHistory.json": lists.explode_listed,
}


def _opening(record: Record, place: str) -> Facts:
    entry, rejects = ENTRY.decode(record.data)
    yield from _message(place, entry, "user", "prompt")
    yield from rejects


def _entry(record: Record, place: str) -> Facts:
    entry, rejects = ENTRY.decode(record.data)
    condensed = entry.context_condense
    if condensed or entry.say == "condense_context":
        condensed = condensed or Condensed()
        yield Compaction(
            session_id=place.partition("/")[0],
            compaction_id=place,
            compacted_at=moment(entry.ts),
            tokens_before=condensed.prev_context_tokens,
            tokens_after=condensed.new_context_tokens,
        )
    kind = _KINDS.get(entry.say or entry.ask or "")
    if kind:
        yield from _message(place, entry, *kind)
        yield from rejects


def _message(place: str, entry: Entry, role: str, kind: str) -> Facts:
    task = place.partition("/")[0]
    info = entry.model_info or ModelInfo()
    yield Message(
        session_id=task,
        message_id=place,
        role=role,
        kind=kind,
        model=info.model_id if role == "assistant" else None,
        sent_at=moment(entry.ts),
        precedence=shown.SHOWN,
    )
    parts = [("thinking", entry.reasoning), ("text", _text(entry))]
    if kind == "thinking":
        parts = [("thinking", entry.reasoning or entry.text)]
    for index, (of, text) in enumerate(parts):
        if text:
            yield Block(
                session_id=task,
                message_id=place,
                block_index=index,
                type=of,
                text=text,
            )


_WORDS = ("question", "response", "text")


def _text(entry: Entry) -> str | None:
    """What was said; questions and plans stand in JSON, beside what may be answered."""
    text = entry.text
    if not (entry.ask and text and text.startswith("{")):
        return text
    try:
        told = untyped(text.encode())
    except Unreadable:
        return text
    found = (told.get(name) for name in _WORDS)
    return next((one for one in found if isinstance(one, str) and one), text)


PARSE: dict[str, Callable[[Record, str], Iterable[Fact | Reject]]] = {
    "requests": requests.facts,
    "folder": requests.folder,
    "opening": _opening,
    "entry": _entry,
    "tool": shown.facts,
    "history": history.facts,
    "model": lists.model,
    "item": lists.item,
}
"""What makes facts of a record, by what its key begins with."""
