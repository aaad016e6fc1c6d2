"""Cursor: the editor's databases, those of its command line, and plain transcripts.

Where:   <User folder>/globalStorage/state.vscdb and, for old chats and for which folder
         a chat is about, workspaceStorage/<hash>/state.vscdb with a workspace.json;
         ~/.cursor/chats/<md5>/<session>/store.db with a meta.json;
         ~/.cursor/projects/<slug>/agent-transcripts/; titles in
         ~/.cursor/ai-tracking/ai-code-tracking.db.
Seen:    nothing real; the command line's tables from its own bundle, all else as
         other readers describe it. Field numbers of its protobuf are uncertain.
Trap:    only builds from the middle of 2025 to early 2026 tell tokens, once per
         request, cached ones within the input: an estimate. Current ones write 0, which
         says nothing. Sizes of the context are no usage. One conversation may be in all
         three stores: the editor's messages count, else the command line's, else the
         transcript's. Model `default` (Auto) is no model.
Missing: exact tokens and cost, which only the account has. Times of the command line's
         and of old messages; usage without a time has that of its chat's beginning.
         Chats deleted in the editor are not noticed, nor what a build would change in
         place instead of replacing it. What is only in agentKv; lists of prompts that
         name no chat; old chats of windows without a folder; a transcript's folder,
         and in a .jsonl without ids its results.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from agentlake.adapters.cursor import cli, ide, transcripts, workspaces
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
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import files_below, folders_in, matching
from agentlake.models.fact import Fact

SOURCE = "cursor"
NAME = "Cursor"
ICON = "🎯"
STORES = ("databases", "lines", "documents")
ROOTS = (
    Root(
        default=(
            "${XDG_CONFIG_HOME:-~/.config}/Cursor/User",
            "~/Library/Application Support/Cursor/User",
            "${APPDATA:-~/AppData/Roaming}/Cursor/User",
        ),
        strip="globalStorage",
    ),
    Root(default=("~/.cursor",), strip="chats"),
)
PARSER_VERSION = 3

TRANSCRIPTS: dict[str, Reader] = {".jsonl": "jsonl", ".txt": "json_document"}
"""Of a session in both forms, both are read; the newer counts."""


def discover(root: str, options: Options) -> Iterator[Stream]:
    """What there is of a User folder, or of ~/.cursor; only there is looked.

    A session that lies in two places has both, the second named apart.
    """
    del options
    keys = set[str]()
    found = [*_of_user_folder(root), *_of_command_line(root)]
    for path, key, reader in sorted(found):
        own = key if key not in keys else f"{key}@{path}"
        keys.add(own)
        yield Stream(path=path, key=own, reader=reader)


def _of_user_folder(root: str) -> Iterator[tuple[str, str, Reader]]:
    for database in matching(root, "globalStorage/state.vscdb"):
        yield database, database, "sqlite"
    for about in matching(root, "workspaceStorage/*/workspace.json"):
        for database in matching(str(Path(about).parent), "state.vscdb"):
            yield database, database, "own"


def _of_command_line(root: str) -> Iterator[tuple[str, str, Reader]]:
    for database in matching(root, "ai-tracking/ai-code-tracking.db"):
        yield database, database, "sqlite"
    for database in matching(root, "chats/*/*/store.db"):
        yield database, f"chat/{Path(database).parent.name}", "own"
    for file in matching(root, "chats/*/*/meta.json"):
        yield file, f"about/{Path(file).parent.name}", "json_document"
    for folder in folders_in(root, "projects/*/agent-transcripts"):
        for file in files_below(folder):
            session, suffix = os.path.splitext(os.path.basename(file))  # noqa: PTH119, PTH122
            if suffix in TRANSCRIPTS:
                yield file, f"transcript/{session}{suffix}", TRANSCRIPTS[suffix]


def tables(stream: Stream) -> Sequence[Table]:
    """Chats and their messages, or titles; the editor's other keys hold secrets."""
    if stream.path.endswith(".vscdb"):
        return ide.TABLES
    return transcripts.TABLES


def read(stream: Stream, cursor: Any, options: Options) -> Iterator[Chunk]:
    """A database of the command line, or of one of the editor's workspaces."""
    del options
    if stream.path.endswith(".vscdb"):
        return workspaces.read(stream.path, cursor)
    return cli.read(stream.path, cursor)


def explode(stream: Stream, data: bytes) -> Iterable[Keyed]:
    """What is beside a database is one record, a transcript of the old form many."""
    if stream.path.endswith(".txt"):
        return transcripts.turns(data)
    return [Keyed("about", data)]


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A row, a message, or a line."""
    path = record.stream.path.replace("\\", "/")
    if path.endswith(".vscdb"):
        if record.stream.reader == "own":
            return workspaces.parse(record)
        return ide.row(record)
    if path.endswith(".jsonl"):
        return transcripts.line(record)
    if path.endswith(".txt"):
        return transcripts.turn(record)
    if record.stream.reader == "sqlite":
        return transcripts.title(record)
    return cli.parse(record)
