"""A workspace of the editor: which chats are about its folder, and its oldest chats."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentlake.adapters.cursor import ide
from agentlake.adapters.cursor.format import EDITOR, KEPT, WORKSPACE, Kept, Tab
from agentlake.adapters.sdk.contract import Chunk, Facts, Keyed, Record, Reject
from agentlake.adapters.sdk.decode import Unreadable, encode, untyped
from agentlake.adapters.sdk.readers import live
from agentlake.adapters.sdk.scan import beside
from agentlake.adapters.sdk.values import file_path
from agentlake.models.block import Block
from agentlake.models.message import Message
from agentlake.models.session import Session

_KEYS = (
    "composer.composerData",
    "composer.composerHeaders",
    "workbench.panel.aichat.view.aichat.chatdata",
)
"""The keys that are asked for: others hold secrets."""
_USER = ("user", 1, "1")


def read(path: str, cursor: Any) -> Iterator[Chunk]:
    """The values of these keys as they are now, each with the workspace's folder.

    Raises `live.Busy` and sqlite3.DatabaseError.
    """
    del cursor
    folder = _folder(Path(path))
    for rows in live.pages(path, _page, None):
        records = [
            Keyed(key, encode({"folder": folder, "value": value}))
            for key, value in rows
        ]
        yield Chunk(records=records, cursor=None, complete=("",))


def _page(
    connection: sqlite3.Connection, state: None
) -> tuple[list[tuple[str, str]], None]:
    del state
    known = connection.execute(
        "select count(*) from sqlite_master where name = 'ItemTable'"
    ).fetchone()
    if not known[0]:
        return [], None
    rows = connection.execute(
        "select key, cast(value as text) from ItemTable where key in (?, ?, ?)"
        " and value is not null order by key",
        _KEYS,
    )
    return rows.fetchall(), None


def _folder(database: Path) -> str | None:
    data = beside(database.parent / "workspace.json")
    try:
        told = untyped(data) if data is not None else None
    except Unreadable:
        return None
    known = told if isinstance(told, dict) else {}
    place = known.get("folder") or known.get("workspace")
    return file_path(place) if isinstance(place, str) else None


def parse(record: Record) -> Facts:
    """What a workspace keeps under one key."""
    workspace, rejects = WORKSPACE.decode(record.data)
    yield from rejects
    kept, rejects = KEPT.within(workspace.value, Kept())
    for listed in kept.all_composers or ():
        if not listed.composer_id:
            continue
        if listed.conversation or listed.conversation_map:
            yield from ide.chat(listed.composer_id, listed)
        if workspace.folder:
            yield Session(session_id=listed.composer_id, cwd=workspace.folder)
    for tab in kept.tabs or ():
        yield from _chat(tab, workspace.folder)
    yield from rejects


def _chat(tab: Tab, folder: str | None) -> Facts:
    if not tab.tab_id:
        yield Reject("chat without tabId")
        return
    yield Session(
        session_id=tab.tab_id,
        title=tab.chat_title or None,
        title_source="ai",
        cwd=folder,
    )
    for place, bubble in enumerate(tab.bubbles or ()):
        message_id = bubble.id or f"{tab.tab_id}/{place}"
        is_user = bubble.type in _USER
        yield Message(
            session_id=tab.tab_id,
            message_id=message_id,
            role="user" if is_user else "assistant",
            kind="prompt" if is_user else "response",
            precedence=EDITOR,
        )
        if text := bubble.text or bubble.raw_text:
            yield Block(
                session_id=tab.tab_id,
                message_id=message_id,
                block_index=0,
                type="text",
                text=text,
            )
