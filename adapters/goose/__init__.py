"""Goose: one database of all sessions; before 1.10 one JSONL file per session.

Where:   ~/.local/share/goose/sessions/sessions.db, on Windows
         %APPDATA%/Block/goose/data/sessions; *.jsonl beside it are of versions before
         1.10, imported once and left there. GOOSE_PATH_ROOT moves it all.
Seen:    nothing real; tables, blocks and counters as goose's own source has them
         (schema 15, August 2026).
Trap:    input includes what was read from and written to the cache; rows older than
         the cache columns cannot be split. An id like 20261001_3 is given again after
         the highest of its day was deleted, so the time of creation is a part of it.
         A compaction deletes and writes anew all messages of a session. Its plain
         token columns are the last call's; only accumulated_* are totals, and these
         count only for a session that the ledger of calls does not know.
Missing: reasoning, which is inside the output; calls made before there was a ledger
         in a session that went on with one; of equal messages without an id that were
         written within one second all but one.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from agentlake.adapters.goose import facts
from agentlake.adapters.goose.format import HEAD, LEDGER, LINE, MESSAGE
from agentlake.adapters.sdk.contract import Options, Record, Reject, Stream, Table
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import folders_in, matching
from agentlake.models.fact import Fact

SOURCE = "goose"
NAME = "Goose"
ICON = "🪿"
STORES = ("databases", "lines")
ROOTS = (
    Root(
        env="GOOSE_PATH_ROOT",
        default=(
            "${XDG_DATA_HOME:-~/.local/share}/goose",
            "${APPDATA:-~/AppData/Roaming}/Block/goose",
        ),
        strip="sessions",
    ),
)
PARSER_VERSION = 3


def discover(root: str, options: Options) -> Iterator[Stream]:
    """The database and the files of older versions; a backup of it is no stream."""
    del options
    folders = [*folders_in(root, "data/sessions"), *folders_in(root, "sessions")]
    for folder in folders[:1]:
        files = matching(folder, "*.jsonl")
        for path in sorted([*files, *matching(folder, "sessions.db")]):
            if path.endswith(".jsonl"):
                yield Stream(path=path, key=Path(path).stem)
            else:
                yield Stream(path=path, key=path, reader="sqlite")


def tables(stream: Stream) -> Sequence[Table]:
    """Sessions, messages and calls; beside a session's id stands which of that id.

    What a recipe was given, and what extensions keep, may be secret. The places of
    the tables do not overlap, so that none depends on what another one holds.
    """
    del stream
    return (
        Table(
            name="sessions",
            key=("id", "created_at"),
            order="rowid * 3",
            without=("extension_data", "recipe_json", "user_recipe_values_json"),
            instead={"parent_created_at": _created("sessions.parent_session_id")},
        ),
        Table(
            name="messages",
            key=("session_id", "message_id"),
            group="session_id",
            order="id * 3 + 1",
            version="id || '/' || length(content_json) || '/' || metadata_json",
            instead={
                "session_created_at": _created("messages.session_id"),
                "message_id": "coalesce(message_id, 'row ' || id)",
            },
        ),
        Table(
            name="usage_ledger",
            key=("id",),
            order="id * 3 + 2",
            above="id",
            instead={
                "session_created_at": _created("usage_ledger.session_id"),
                "provider_name": _of_session("provider_name"),
                "model_config_json": _of_session("model_config_json"),
            },
        ),
    )


def _created(column: str) -> str:
    return f"(select created_at from sessions as born where born.id = {column})"


def _of_session(column: str) -> str:
    return f"(select {column} from sessions where sessions.id = session_id)"


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A row of one of three tables, or a line of a file."""
    match record.key.partition("/")[0] if record.stream.reader == "sqlite" else "":
        case "sessions":
            head, rejects = HEAD.decode(record.data)
            yield from facts.session(facts.identity(head.id, head.created_at), head)
        case "messages":
            row, rejects = MESSAGE.decode(record.data)
            yield from facts.message_row(row)
        case "usage_ledger":
            call, rejects = LEDGER.decode(record.data)
            yield from facts.call(call)
        case _:
            line, rejects = LINE.decode(record.data)
            if line.role:
                yield from facts.message_line(record.stream.key, line)
            else:
                yield from facts.session(record.stream.key, line)
    yield from rejects
