"""GitHub Copilot Chat in VS Code and editors made of it: a file per chat session.

Where:   <User folder>/workspaceStorage/<hash>/chatSessions/<id>.json or .jsonl, the
         folder it is about in workspace.json beside that; for windows without one
         globalStorage/emptyWindowChatSessions/, transferredChatSessions/. What was
         said, again or alone: GitHub.copilot-chat/transcripts/<id>.jsonl. Calls, if it
         is switched on: GitHub.copilot-chat/debug-logs/<id>/*.jsonl and
         globalStorage/github.copilot-chat/agent-traces.db. VSCODE_APPDATA and
         VSCODE_PORTABLE move the User folder.
Seen:    descriptions only, of October 2026
Trap:    a .jsonl is a log of changes to one state: it is replayed from its first line.
         promptTokens are those of the last call of a request only, the cached ones
         within: less than was paid, and marked as estimated. modelTotals are whole;
         calls of the debug log or the trace database are, and count instead of all
         that the session tells. What splits no cache has no reliable price.
         After a change that is damaged, what cannot be placed any more is left out.
Missing: tokens of inline completions, and all that is only in a transcript. Logs and
         traces are off unless asked for, and pruned.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from agentlake.adapters.sdk.contract import (
    Chunk,
    Keyed,
    Options,
    Reader,
    Record,
    Reject,
    Stream,
    Table,
)
from agentlake.adapters.sdk.decode import Unreadable, encode, untyped
from agentlake.adapters.sdk.readers import json_document
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import beside, folders_in, matching
from agentlake.adapters.sdk.values import file_path, one_step, unstepped
from agentlake.adapters.vscode_copilot import calls, chats, transcripts
from agentlake.adapters.vscode_copilot.changes import Replay
from agentlake.models.fact import Fact

SOURCE = "vscode_copilot"
NAME = "Copilot Chat"
ICON = "💠"
STORES = ("documents", "lines", "databases")
PARSER_VERSION = 2

_EDITORS = (
    "Code",
    "Code - Insiders",
    "VSCodium",
    "Cursor",
    "Windsurf",
    "Positron",
    "Antigravity",
)
ROOTS = (
    Root(env="VSCODE_PORTABLE", default=()),
    Root(env="VSCODE_APPDATA", default=()),
    Root(
        default=(
            *(f"~/Library/Application Support/{name}/User" for name in _EDITORS),
            *(f"${{XDG_CONFIG_HOME:-~/.config}}/{name}/User" for name in _EDITORS),
            *(f"${{APPDATA:-~/AppData/Roaming}}/{name}/User" for name in _EDITORS),
            "~/.vscode-server/data/User",
            "~/.vscode-server-insiders/data/User",
        )
    ),
)

_USERS = ("user-data/User", *(f"{name}/User" for name in _EDITORS))
"""The folders of a user in what the variables of VS Code name."""
_LOGS = "GitHub.copilot-chat/debug-logs/*/*.jsonl"
_EXTENSIONS = ("GitHub.copilot-chat", "github.copilot-chat")
_STORAGES = ("workspaceStorage/*", "globalStorage")
_TRANSCRIPTS = "transcripts"
_TRACES = "globalStorage/github.copilot-chat/agent-traces.db"
_CHATS = ("emptyWindowChatSessions", "transferredChatSessions")
_LOG = re.compile(r".*/debug-logs/(?P<session>[^/]+)/[^/]+\.jsonl", re.DOTALL)


def discover(root: str, options: Options) -> Iterator[Stream]:
    """Chats, and what tells their calls; of a chat in both formats the newer one."""
    del options
    found: dict[str, Reader] = {}
    for user in (root, *(it for name in _USERS for it in folders_in(root, name))):
        found |= _below(user)
    for path in sorted(found):
        yield Stream(path=path, key=path, reader=found[path])


def _below(user: str) -> dict[str, Reader]:
    found: dict[str, Reader] = {}
    for folder in folders_in(user, "workspaceStorage/*/chatSessions"):
        found |= dict.fromkeys(_chats(folder), "own")
    for name in _CHATS:
        for folder in folders_in(user, f"globalStorage/{name}"):
            found |= dict.fromkeys(_chats(folder), "own")
    for storage in _STORAGES:
        for extension in _EXTENSIONS:
            told = matching(user, f"{storage}/{extension}/{_TRANSCRIPTS}/*.jsonl")
            found |= dict.fromkeys(told, "own")
    found |= dict.fromkeys(matching(user, f"workspaceStorage/*/{_LOGS}"), "jsonl")
    return found | dict.fromkeys(matching(user, _TRACES), "sqlite")


def _chats(folder: str) -> list[str]:
    """The files of chats; of one that is there in both formats, the log."""
    logs = matching(folder, "*.jsonl")
    return logs + [one for one in matching(folder, "*.json") if f"{one}l" not in logs]


def read(stream: Stream, cursor: Any, options: Options) -> Iterator[Chunk]:
    """A chat as its state is now: `<session>/session`, `<session>/request/<id>`.

    A transcript by its events: `<session>/event/<id>`.
    """
    del options
    folder = _folder(Path(stream.path))
    explode = transcripts.explode if _is_transcript(stream.path) else _exploded
    return json_document.read(
        stream.path,
        lambda data: explode(stream.path, data, folder),
        cursor,
        {"folder": folder, "version": PARSER_VERSION},
    )


def _is_transcript(path: str) -> bool:
    return Path(path).parent.name == _TRANSCRIPTS


def _folder(chat: Path) -> str | None:
    """The folder that the chat's window had open; written before its first chat."""
    above = chat.parents[2] if _is_transcript(str(chat)) else chat.parents[1]
    data = beside(above / "workspace.json")
    try:
        told = untyped(data) if data is not None else None
    except Unreadable:
        return None
    known = told if isinstance(told, dict) else {}
    place = known.get("folder") or known.get("workspace")
    return file_path(place) if isinstance(place, str) else None


def _exploded(path: str, data: bytes, folder: str | None) -> Iterator[Keyed]:
    log = Replay(data) if path.endswith(".jsonl") else None
    state = log.state if log else untyped(data)
    if not isinstance(state, dict):
        msg = "a chat is no JSON object"
        raise Unreadable(msg)
    session = state.get("sessionId")
    session = session if isinstance(session, str) and session else Path(path).stem
    session = one_step(session)
    requests = state.get("requests")
    about = {name: value for name, value in state.items() if name != "requests"}
    yield Keyed(f"{session}/session", encode({"folder": folder, "state": about}))
    for place, one in enumerate(requests if isinstance(requests, list) else ()):
        if isinstance(one, dict):
            name = one.get("requestId") or place
            yield Keyed(f"{session}/request/{name}", encode(one))
    for number, line in enumerate(log.damaged if log else ()):
        yield Keyed(f"{session}/damaged/{number}", line)
    if log and log.displaced:
        yield Keyed(f"{session}/displaced", encode({"changes": log.displaced}))


def tables(stream: Stream) -> Sequence[Table]:
    """The spans that are calls of a model."""
    del stream
    return calls.TABLES


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A request of a chat, the chat itself, or a call that is told on its own."""
    stream = record.stream
    if stream.reader == "sqlite":
        return calls.span(record.data)
    if stream.reader == "jsonl":
        found = _LOG.fullmatch(stream.path.replace("\\", "/"))
        session = found["session"] if found else Path(stream.path).parent.name
        return calls.logged(session, record)
    step, kind, name = (*record.key.split("/", 2), "")[:3]
    session = unstepped(step)
    match kind:
        case "session":
            return chats.session(session, record.data)
        case "event":
            return transcripts.event(session, record)
        case "damaged" if _is_transcript(stream.path):
            return transcripts.damaged(record.data)
        case "damaged":
            return chats.damaged(record.data)
        case "displaced":
            return chats.displaced(record.data)
        case _:
            return chats.request(session, name, record.data)
