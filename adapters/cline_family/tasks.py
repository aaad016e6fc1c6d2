"""The classic format: a folder per task, its files rewritten with each change."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, TypeAlias

from agentlake.adapters.cline_family.format import (
    ENTRY,
    ITEM,
    REQUEST,
    REQUESTS,
    SPOKEN,
    USED,
    Entry,
    ModelInfo,
    Part,
    Request,
)
from agentlake.adapters.cline_family.tools import tools
from agentlake.adapters.sdk.contract import Keyed, Record, Reject
from agentlake.adapters.sdk.decode import Unreadable, encode, untyped
from agentlake.adapters.sdk.values import moment
from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.fact import Fact
from agentlake.models.link import Link
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.turn import Turn
from agentlake.models.usage import Usage

Facts: TypeAlias = Iterator[Fact | Reject]

PRODUCTS = {
    "saoudrizwan.claude-dev": "cline",
    "rooveterinaryinc.roo-cline": "roo",
    "kilocode.kilo-code": "kilo",
    "zoocodeorganization.zoo-code": "zoo",
}
"""The extensions, by the names of their folders."""

_WHOLE_PROMPT_SINCE = {
    "roo": datetime(2025, 11, 1, tzinfo=UTC),
    "kilo": datetime(2025, 11, 12, tzinfo=UTC),
}
"""From these releases on tokensIn is the whole prompt, whatever the protocol."""
_WHOLE_PROMPT_PROVIDERS = frozenset(
    [
        "openai",
        "litellm",
        "doubao",
        "fireworks",
        "hicap",
        "lmstudio",
        "qwen",
        "xai",
        "zai",
    ]
)
"""Providers for which Cline writes the prompt as their API counts it."""

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
_BEHIND_LISTS = 1 << 20
_MODEL = re.compile(r"<model>([^<]+)</model>")
_CWD = re.compile(r"# Current (?:Workspace|Working) Directory \(([^)\n]+)\)")


def _ui_messages(task: str, data: bytes) -> Iterator[Keyed]:
    """Entries by their time; the first text is the task's own, the user's.

    The requests are one record: as some are taken back, those left are the truth.
    """
    entries = [one for one in _objects(data) if not one.get("partial")]
    kinds = [one.get("say") for one in entries]
    requests = [
        one for one, kind in zip(entries, kinds, strict=True) if kind in _REQUESTS
    ]
    times = [moment(one.get("ts")) for one in entries]
    newest = max((int(at.timestamp() * 1000) for at in times if at), default=0)
    body = {"newest": newest, "entries": requests}
    yield Keyed(f"requests|{task}", encode(body), len(entries))
    opening = next((n for n, kind in enumerate(kinds) if kind in ("text", "task")), -1)
    for place, one in enumerate(entries):
        if kinds[place] not in _REQUESTS:
            kind = "opening" if place == opening else "entry"
            yield Keyed(f"{kind}|{task}/{one.get('ts', place)}", encode(one), place)


def _history(task: str, data: bytes) -> Iterator[Keyed]:
    """Placed behind the lists: their folder is surer than the one in a prompt."""
    for place, one in enumerate(_objects(data), _BEHIND_LISTS):
        yield Keyed(f"history|{task}/{place - _BEHIND_LISTS}", encode(one), place)


def _metadata(task: str, data: bytes) -> Iterator[Keyed]:
    document = untyped(data)
    used = document.get("model_usage") if isinstance(document, dict) else None
    for place, one in enumerate(used if isinstance(used, list) else ()):
        yield Keyed(f"model|{task}/{place}", encode(one), place)


def _item(task: str, data: bytes) -> Iterator[Keyed]:
    yield Keyed(f"item|{task}", data, 0)


def _listed(task: str, data: bytes) -> Iterator[Keyed]:
    del task
    for place, one in enumerate(_objects(data)):
        if isinstance(one.get("id"), str):
            yield Keyed(f"item|{one['id']}", encode(one), place)


def _objects(data: bytes) -> list[dict[str, Any]]:
    document = untyped(data)
    if not isinstance(document, list):
        msg = "expected a JSON array"
        raise Unreadable(msg)
    return [one for one in document if isinstance(one, dict)]


EXPLODE: dict[str, Callable[[str, bytes], Iterable[Keyed]]] = {
    "ui_messages.json": _ui_messages,
    "api_conversation_history.json": _history,
    "task_metadata.json": _metadata,
    "history_item.json": _item,
    "taskHistory.json": _listed,
}


def _requests(record: Record, task: str) -> Facts:
    product = _product(record.stream.path)
    told, rejects = REQUESTS.decode(record.data)
    yield from rejects
    for place, entry in enumerate(told.entries):
        try:
            request, odd = REQUEST.decode((entry.text or "{}").encode())
        except Unreadable as error:
            yield Reject(f"entries[{place}].text: {error}")
            continue
        yield from odd
        if request.tokens_in is None and request.tokens_out is None:
            continue  # it has not ended yet
        at, info = moment(entry.ts), entry.model_info or ModelInfo()
        deleted = entry.say == "deleted_api_reqs"
        yield Usage(
            session_id=task,
            usage_key=f"{task}/{entry.ts}",
            scope=task,
            precedence=told.newest,
            model=info.model_id,
            called_at=at,
            input_tokens=_uncached(product, entry, request, at),
            cache_read_tokens=request.cache_reads,
            cache_write_tokens=request.cache_writes,
            output_tokens=request.tokens_out,
            reported_cost_usd=request.cost or None,
            granularity="session" if deleted else "call",
        )


def _product(path: str) -> str | None:
    parts = path.replace("\\", "/").lower().split("/")
    return next((PRODUCTS[part] for part in parts if part in PRODUCTS), None)


def _uncached(
    product: str | None, entry: Entry, request: Request, at: datetime | None
) -> int | None:
    """The prompt without what the cache read and wrote.

    In a folder of the user's own choice the product is told by the protocol, which
    Cline does not write. A prompt smaller than the cached part cannot include it.
    """
    told = request.tokens_in
    cached = (request.cache_reads or 0) + (request.cache_writes or 0)
    if told is None or told < cached:
        return told
    protocol = request.api_protocol or entry.api_protocol
    if product == "cline" or (product is None and protocol is None):
        provider = entry.model_info.provider_id if entry.model_info else None
        includes = (provider or "") in _WHOLE_PROMPT_PROVIDERS
    else:
        since = _WHOLE_PROMPT_SINCE.get(product or "roo")
        is_old = bool(since and at and at < since)
        includes = not (protocol == "anthropic" and is_old)
    return told - cached if includes else told


def _opening(record: Record, place: str) -> Facts:
    entry, rejects = ENTRY.decode(record.data)
    yield from _message(place, entry, "user", "prompt")
    yield from rejects


def _entry(record: Record, place: str) -> Facts:
    entry, rejects = ENTRY.decode(record.data)
    condensed = entry.context_condense
    if condensed:
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
    )
    parts = [("thinking", entry.reasoning), ("text", entry.text)]
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


def _spoken(record: Record, place: str) -> Facts:
    """Tools, and what the program put into the prompt: the model and the folder."""
    task = place.partition("/")[0]
    said, rejects = SPOKEN.decode(record.data)
    content = said.content
    parts = [Part("text", content)] if isinstance(content, str) else content or []
    at = moment(said.ts)
    yield from tools(task, int(place.rpartition("/")[2]), said.role, parts, at)
    yield from rejects
    if said.role != "user":
        return
    text = "\n".join(part.text for part in parts if part.text)
    if at and (models := _MODEL.findall(text)):
        yield Turn(session_id=task, kind="context", model=models[-1], began_at=at)
    if folder := _CWD.search(text):
        yield Session(session_id=task, cwd=folder[1])


def _model(record: Record, place: str) -> Facts:
    used, rejects = USED.decode(record.data)
    task = place.partition("/")[0]
    if used.model_id:
        yield Turn(
            session_id=task,
            kind="context",
            model=used.model_id,
            began_at=moment(used.ts),
        )
    yield from rejects


def _task(record: Record, task: str) -> Facts:
    item, rejects = ITEM.decode(record.data)
    parent = item.parent_task_id
    yield Session(
        session_id=task,
        parent_session_id=parent,
        relation="subagent" if parent else None,
        cwd=item.workspace or item.cwd_on_task_initialization,
    )
    if item.model_id:
        yield Turn(
            session_id=task,
            kind="context",
            model=item.model_id,
            began_at=moment(item.ts),
        )
    for child in item.child_ids or ():
        yield Link(session_id=child, parent_session_id=task, relation="subagent")
    yield from rejects


PARSE: dict[str, Callable[[Record, str], Iterable[Fact | Reject]]] = {
    "requests": _requests,
    "opening": _opening,
    "entry": _entry,
    "history": _spoken,
    "model": _model,
    "item": _task,
}
"""What makes facts of a record, by what its key begins with."""
