"""Cline, and its forks Roo Code, Kilo Code (up to 5) and Zoo Code: a folder per task.

Where:   <editor's User folder>/globalStorage/<extension>/tasks/<task id>/, of each
         editor of the VS Code family; ~/.cline/data for other editors and the CLI
         (CLINE_DIR, CLINE_DATA_DIR); since Cline 4.1 sessions/<id>/ below that
         (CLINE_SESSION_DATA_DIR). A customStoragePath: name it in the settings.
Seen:    descriptions of Cline 3.89 - 4.1, Roo 3.53 and Kilo 5.16; no real files
Trap:    tokensIn is the whole prompt or only its uncached part, by product, provider
         and date; no record says the version. A request is written before it has
         counts. Requests that were taken back are added up in one entry, so only the
         newest file of a task counts, not what older ones had beside it. Answers of
         tools in words name no call: they are paired by name and order.
Missing: models of older tasks are found by time in files beside the requests, which may
         be gone. Tools are told by the history that the model got; where it is gone, by
         the list that the user saw, which shows few outputs. Where that list is gone,
         the history tells what was said, and nothing what it cost.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from agentlake.adapters.cline_family import history, requests, sdk_sessions, tasks
from agentlake.adapters.sdk.contract import (
    Chunk,
    Keyed,
    Options,
    Reader,
    Record,
    Reject,
    Stream,
)
from agentlake.adapters.sdk.readers import json_document
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import folders_in, matching
from agentlake.models.fact import Fact

SOURCE = "cline_family"
NAME = "Cline"
ICON = "🪢"
STORES = ("documents",)
PARSER_VERSION = 2

_EDITORS = (
    "Code",
    "Code - Insiders",
    "Cursor",
    "Windsurf",
    "VSCodium",
    "Positron",
    "Trae",
    "Antigravity",
)
_USER_FOLDERS = (
    *(f"~/Library/Application Support/{editor}/User" for editor in _EDITORS),
    *(f"${{XDG_CONFIG_HOME:-~/.config}}/{editor}/User" for editor in _EDITORS),
    *(f"${{APPDATA:-~/AppData/Roaming}}/{editor}/User" for editor in _EDITORS),
    "~/.vscode-server/data/User",
    "~/.vscode-server-insiders/data/User",
)
ROOTS = (
    Root(env="CLINE_DATA_DIR", default=("${CLINE_DIR:-~/.cline}/data",)),
    Root(env="CLINE_SESSION_DATA_DIR", default=(), strip="sessions"),
    Root(
        default=(
            *(
                f"{folder}/globalStorage/{extension}"
                for extension in requests.PRODUCTS
                for folder in _USER_FOLDERS
            ),
            "~/.vscode-mock/global-storage",
        )
    ),
)

_TASK_FILES = (
    tasks.HISTORY,
    *tasks.SEEN,
    "history_item.json",
    "task_metadata.json",
)
_EMPTY = 8
"""No file of so few bytes says anything: it is an empty list."""
_SESSION_FILE = re.compile(r"(?P<name>.+?)(?P<messages>\.messages)?\.json")


def discover(root: str, options: Options) -> Iterator[Stream]:
    """The known files of each task and session; checkpoints are never listed."""
    del options
    found = [
        file
        for folder in folders_in(root, "tasks/*")
        for name in _TASK_FILES
        for file in matching(folder, name)
    ]
    found += filter(_is_session_file, matching(root, "sessions/*/*.json"))
    found += matching(root, "state/taskHistory.json")
    for name in sorted(found):
        reader: Reader = "own" if _is_one_of_two(name) else "json_document"
        yield Stream(path=name, key=name, reader=reader)


def _is_one_of_two(path: str) -> bool:
    return Path(path).name in (tasks.HISTORY, *tasks.SEEN)


def _is_session_file(path: str) -> bool:
    file = Path(path)
    name = _SESSION_FILE.fullmatch(file.name)
    return name is not None and (
        bool(name["messages"]) or name["name"] == file.parent.name
    )


def read(stream: Stream, cursor: Any, options: Options) -> Iterator[Chunk]:
    """What the user saw, or what the model got; if one is gone, the other says more."""
    del options
    path = Path(stream.path)
    is_history = path.name == tasks.HISTORY
    others = tasks.SEEN if is_history else (tasks.HISTORY,)
    is_alone = not any(_says_something(path.with_name(name)) for name in others)
    take = history.explode if is_history else tasks.explode_seen
    return json_document.read(
        stream.path,
        lambda data: take(path.parent.name, data, is_alone=is_alone),
        cursor,
        {"is_alone": is_alone, "version": PARSER_VERSION},
    )


def _says_something(file: Path) -> bool:
    try:
        return file.stat().st_size > _EMPTY
    except OSError:
        return False


def explode(stream: Stream, data: bytes) -> Iterable[Keyed]:
    """What the file lists, each under its id or time; its requests as one record."""
    folder, _, name = stream.path.replace("\\", "/").rpartition("/")
    task = folder.rpartition("/")[2]
    if name in tasks.EXPLODE:
        return tasks.EXPLODE[name](task, data)
    return sdk_sessions.explode(task, name.removesuffix(".json"), data)


def parse(record: Record) -> Iterable[Fact | Reject]:
    """One entry of one of the files; which one, its key begins with."""
    kind, _, rest = record.key.partition("|")
    make = tasks.PARSE.get(kind) or sdk_sessions.PARSE[kind]
    return make(record, rest)
