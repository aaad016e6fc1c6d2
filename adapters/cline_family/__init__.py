"""Cline, and its forks Roo Code, Kilo Code (up to 5) and Zoo Code: a folder per task.

Where:   <editor's User folder>/globalStorage/<extension>/tasks/<task id>/, of each
         editor of the VS Code family; ~/.cline/data for other editors and the CLI
         (CLINE_DIR, CLINE_DATA_DIR); since Cline 4.1 sessions/<id>/ below that
         (CLINE_SESSION_DATA_DIR). A customStoragePath: name it in the settings.
Seen:    descriptions of Cline 3.89 - 4.1, Roo 3.53 and Kilo 5.16; no real files
Trap:    tokensIn is the whole prompt or only its uncached part, by product, provider
         and date; no record says the version. A request is written before it has
         counts. Requests that were taken back are added up in one entry, so only the
         newest file of a task counts, not what older ones had beside it.
Missing: models of older tasks are found by time in files beside the requests, which may
         be gone. Tools are told by the history that the model got, not by the list
         that the user saw: where it is gone, there are none.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from agentlake.adapters.cline_family import sdk_sessions, tasks
from agentlake.adapters.sdk.contract import Keyed, Options, Record, Reject, Stream
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import folders_in, matching
from agentlake.models.fact import Fact

SOURCE = "cline_family"
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
                for extension in tasks.PRODUCTS
                for folder in _USER_FOLDERS
            ),
            "~/.vscode-mock/global-storage",
        )
    ),
)

_TASK_FILES = (
    "api_conversation_history.json",
    "history_item.json",
    "task_metadata.json",
    "ui_messages.json",
)
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
        yield Stream(path=name, key=name, reader="json_document")


def _is_session_file(path: str) -> bool:
    file = Path(path)
    name = _SESSION_FILE.fullmatch(file.name)
    return name is not None and (
        bool(name["messages"]) or name["name"] == file.parent.name
    )


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
