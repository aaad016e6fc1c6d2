"""Gemini CLI: one log or document per session, one more per subagent.

Where:   ~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl, before 2026 the same
         as .json; subagents in chats/<parent session>/<session>.jsonl or .json; typed
         prompts in tmp/<project>/logs.json; the folder of a project in .project_root
         there, else in projects.json. GEMINI_CLI_HOME takes the place of ~.
Seen:    the program up to 0.61.0 (2026-09); `$patch` in descriptions of later ones only
Trap:    a message is written again whenever it changes, at first without tokens: its
         last version counts, its tokens are the last that were not null. A .json
         stays beside the .jsonl that goes on from it, and a project's folder moves
         from a hash to a name. What was rewound or taken out was billed all the same.
         `input` includes `cached`; `output` is without `thoughts`; `tool` is prompt
         that `input` does not include (taken for input: not verified).
Missing: calls for compression, titles, routing and loop checks; failed attempts. Files
         go after 30 days (sessionRetention). logs.json repeats prompts: only kept.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from agentlake.adapters.gemini_cli import facts, history
from agentlake.adapters.gemini_cli.project import folder_of
from agentlake.adapters.sdk.contract import (
    Chunk,
    Health,
    Keyed,
    Options,
    Record,
    Reject,
    Stream,
)
from agentlake.adapters.sdk.readers import json_document
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import files_below, folders_in
from agentlake.adapters.sdk.settings import days, said_in
from agentlake.adapters.sdk.values import unstepped
from agentlake.models.fact import Fact

SOURCE = "gemini_cli"
NAME = "Gemini CLI"
ICON = "♊"
STORES = ("documents",)
ROOTS = (
    Root(default=("${GEMINI_CLI_HOME:-~}/.gemini",)),
    Root(default=("~/.cache/.gemini",)),  # runs in the sandbox of macOS
)
PARSER_VERSION = 2

_RETENTION_DAYS = 30

_FILE = re.compile(
    r"""(?P<project>[^/]+)/
    (?: chats/(?P<chat>session-[^/]+\.jsonl? | [^/]+/[^/]+\.jsonl?)
    | logs\.json
    )""",
    re.VERBOSE,
)
_SUBAGENT = re.compile(r".*/chats/(?P<parent>[^/]+)/(?P<session>[^/]+)\.jsonl?", re.S)


def discover(root: str, options: Options) -> Iterator[Stream]:
    """Chats by their name, which stays when the project's folder gets another one.

    Of a chat that lies in two folders, the first has its name as key.
    """
    del options
    top, keys = Path(root, "tmp"), set[str]()
    for path in files_below(str(top)):
        found = _FILE.fullmatch(Path(path).relative_to(top).as_posix())
        if found is None:
            continue
        key = found["chat"] or path
        if key in keys:
            key = f"{key}@{path}"
        keys.add(key)
        yield Stream(path=path, key=key, reader="own")


def read(stream: Stream, cursor: Any, options: Options) -> Iterator[Chunk]:
    """The session and its messages, with its folder; of logs.json, the prompts."""
    del options
    folder = None if stream.path.endswith("logs.json") else folder_of(stream.path)
    return json_document.read(
        stream.path,
        lambda data: explode(stream.path, data, folder),
        cursor,
        {"folder": folder, "version": PARSER_VERSION},
    )


def explode(path: str, data: bytes, folder: str | None) -> Iterator[Keyed]:
    """The session and its messages; of logs.json, the prompts. Raises Unreadable."""
    if path.endswith("logs.json"):
        return history.prompts(data)
    take = history.of_document if path.endswith(".json") else history.of_log
    return take(Path(path).stem, data, folder)


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A record is a session, a message, its tokens, or a patch."""
    step, kind, name = (*record.key.split("/", 2), "", "")[:3]
    session_id = unstepped(step)
    match kind:
        case "session":
            found = _SUBAGENT.fullmatch(record.stream.path.replace("\\", "/"))
            parent = found["parent"] if found else None
            return facts.session(session_id, parent, record.data)
        case "messages":
            return facts.message(session_id, name, record.data)
        case "tokens":
            return facts.tokens(session_id, name, record.data)
        case "patches":
            return facts.patch(session_id, name, record.data)
        case "damaged":
            return facts.damaged(record.data)
        case _:  # a prompt of logs.json
            return ()


def health(root: str) -> Health:
    """Chats are deleted after 30 days, or what general.sessionRetention says."""
    if not folders_in(root, "tmp"):
        return Health()
    said = said_in(Path(root, "settings.json"), "general", "sessionRetention")
    said = said if isinstance(said, dict) else {}
    if said.get("enabled") is False:
        return Health()
    after, most = days(said.get("maxAge")), said.get("maxCount")
    limit = (
        f"only the last {most} chats are kept"
        " (general.sessionRetention.maxCount in settings.json)"
    )
    return Health(
        deleted_after_days=_RETENTION_DAYS if after is None else after,
        warnings=(limit,) if isinstance(most, int) else (),
    )
