"""Kiro CLI and IDE, and Amazon Q Developer CLI, from which Kiro came.

Where:   data.sqlite3 of kiro-cli or amazon-q in ~/.local/share, on macOS in
         ~/Library/Application Support, on Windows in %APPDATA%, or in ~/.kiro or
         ~/.amazonq; newer sessions in ~/.kiro/sessions (KIRO_HOME overrides ~/.kiro);
         the IDE's in Kiro/User/globalStorage/kiro.kiroagent where editors keep it.
Seen:    nothing real; Q's tables as its own source has them, Kiro's as other readers
         and their test data do. The layouts of the IDE are uncertain, most of all that
         of sess_*/messages.jsonl.
Trap:    a row holds only the end of a conversation: what is trimmed from it stays
         here, and so does one that the next one in its directory overwrote. Other
         tables hold secrets. A .chat is the whole conversation once more, and so are
         executions without actions. One may lie in the database and as a session; the
         user's half is then known by its second and its text. Usage is in credits: none
         is a dollar, nor a token.
Missing: tokens: none in databases, 0 in sessions as far as anybody saw; how full the
         context was is no usage. The model of a turn is that which its session has
         now. What was trimmed before the first load is only in `transcript`, which is
         not read. An execution that names no session is one of its own, below the
         session that names it. How subagents belong to their parent.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from agentlake.adapters.kiro import database, executions, ide, lines, sessions
from agentlake.adapters.sdk.contract import (
    Health,
    Keyed,
    Options,
    Reader,
    Record,
    Reject,
    Stream,
    Table,
)
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import files_below, matching
from agentlake.models.fact import Fact

SOURCE = "kiro"
NAME = "Kiro"
ICON = "👻"
STORES = ("lines", "documents", "databases")
_MAC = "~/Library/Application Support"
_ROAMING = "${APPDATA:-~/AppData/Roaming}"
_AGENT = "User/globalStorage/kiro.kiroagent"
ROOTS = (
    Root(env="KIRO_HOME", default=("~/.kiro",), strip="sessions"),
    Root(
        default=(
            "${XDG_DATA_HOME:-~/.local/share}/kiro-cli",
            "~/.config/kiro-cli",
            f"{_MAC}/kiro-cli",
            f"{_ROAMING}/kiro-cli",
            "${LOCALAPPDATA:-~/AppData/Local}/kiro-cli",
            "${XDG_DATA_HOME:-~/.local/share}/amazon-q",
            f"{_MAC}/amazon-q",
            "~/.amazonq",
        )
    ),
    Root(
        default=(
            f"${{XDG_CONFIG_HOME:-~/.config}}/Kiro/{_AGENT}",
            f"{_MAC}/Kiro/{_AGENT}",
            f"{_ROAMING}/Kiro/{_AGENT}",
            f"~/.kiro-server/data/{_AGENT}",
        )
    ),
)
PARSER_VERSION = 2

_FILE = re.compile(
    r""".*/(?:
      (?P<database>data\.sqlite3)
    | sessions/cli/(?P<line>[^/]+)\.jsonl
    | sessions/cli/(?P<document>[^/]+)\.json
    | sessions/[^/]+/(?:sess_)?(?P<ide_line>[^/]+)/messages\.jsonl
    | sessions/[^/]+/(?:sess_)?(?P<about>[^/]+)/session\.json
    | kiro\.kiroagent/[^/.]{32}/(?P<chat>[^/]+)\.chat
    | kiro\.kiroagent/workspace-sessions/[^/]+/
      (?!sessions\.json)(?P<session>[^/]+)\.json
    | kiro\.kiroagent/[^/.]{32}/(?:[^/.]+/)?(?P<execution>[^/.]+)
    )""",
    re.VERBOSE | re.DOTALL,
)
_DOCUMENTS = {
    "document": sessions.explode,
    "about": ide.about,
    "chat": ide.chat,
    "session": ide.session,
    "execution": executions.explode,
}


def discover(root: str, options: Options) -> Iterator[Stream]:
    """The database, the newer sessions, what the IDE keeps; lists are no stream."""
    del options
    found = matching(root, "data.sqlite3")
    if Path(root).name == "kiro.kiroagent":
        found = files_below(root)
    else:
        found += files_below(str(Path(root, "sessions")))
    for path in sorted(found):
        kind, _ = _place(path)
        if kind == "database":
            yield Stream(path=path, key=path, reader="sqlite")
        elif kind:
            reader: Reader = "jsonl" if kind.endswith("line") else "json_document"
            yield Stream(path=path, key=path, reader=reader)


def _place(path: str) -> tuple[str, str]:
    """What a file of this path is, and the name that it has."""
    found = _FILE.fullmatch(path.replace("\\", "/"))
    if found is None or found.lastgroup is None:
        return "", ""
    return found.lastgroup, found[found.lastgroup]


def tables(stream: Stream) -> Sequence[Table]:
    """Conversations; never `auth_kv` and `state`, which hold secrets."""
    del stream
    return database.tables()


def explode(stream: Stream, data: bytes) -> Iterable[Keyed]:
    """The records of a document."""
    kind, name = _place(stream.path)
    return _DOCUMENTS[kind](name, data)


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A part of a row, a line, or a part of a document."""
    kind, name = _place(record.stream.path)
    match kind:
        case "database":
            return database.facts(record)
        case "line":
            return sessions.line(name, record)
        case "document":
            return sessions.document(record)
        case "ide_line":
            return lines.line(name, record)
        case _:
            return ide.facts(record)


def health(root: str) -> Health:
    """What the older stores forget."""
    if not matching(root, "data.sqlite3"):
        return Health()
    return Health(
        notes=(
            "the database keeps the end of a conversation, and with Amazon Q one per"
            " directory: load often",
        )
    )
