"""Crush: one database per project, and a list of the projects.

Where:   <project>/.crush/crush.db; projects.json in ~/.local/share/crush, on Windows
         in %LOCALAPPDATA%/crush, says which projects there are and which of them keep
         it elsewhere. CRUSH_GLOBAL_DATA moves the list.
Seen:    nothing real; tables and parts as Crush's own source has them (August 2026).
Trap:    prompt_tokens and completion_tokens are those of the last step: a gauge of the
         context, never a total. The cost is a total, and a subagent's is added to its
         parent's when it has finished: of a session counts what its children have not
         cost. Times are seconds, in old rows milliseconds.
Missing: tokens: nothing on disk has them, so there is only the cost, 0 where a plan
         includes it. The folder of a project whose database lies elsewhere than in
         .crush. A list in a home of another place (a backup) is read as if its
         projects were below that home.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from agentlake.adapters.crush import facts
from agentlake.adapters.crush.format import MESSAGE, SESSION
from agentlake.adapters.sdk.contract import Options, Record, Reject, Stream, Table
from agentlake.adapters.sdk.roots import Listed, Root
from agentlake.adapters.sdk.scan import matching
from agentlake.models.fact import Fact

SOURCE = "crush"
NAME = "Crush"
ICON = "💘"
STORES = ("databases",)
ROOTS = (
    Root(
        env="CRUSH_GLOBAL_DATA",
        default=(
            "${XDG_DATA_HOME:-~/.local/share}/crush",
            "${LOCALAPPDATA:-~/AppData/Local}/crush",
        ),
        listed=Listed(file="projects.json", folder="data_dir", above="path"),
    ),
)
PARSER_VERSION = 2

_OF_CHILDREN = """(
    select sum(cost) from sessions as children
    where children.parent_session_id = sessions.id
)"""


def discover(root: str, options: Options) -> Iterator[Stream]:
    """The database of a project; the root is the project or where it keeps its data."""
    del options
    for name in (".crush/crush.db", "crush.db"):
        for path in matching(root, name):
            yield Stream(path=path, key=path, reader="sqlite")


def tables(stream: Stream) -> Sequence[Table]:
    """Sessions and messages; `files` holds whole files, `read_files` only their names.

    Places are odd for one table and even for the other: neither moves the other's.
    """
    del stream
    return (
        Table(
            name="sessions",
            key=("id",),
            order="rowid * 2",
            instead={"cost_of_children": _OF_CHILDREN},
        ),
        Table(
            name="messages",
            key=("session_id", "id"),
            group="session_id",
            order="rowid * 2 + 1",
            version="updated_at || '/' || length(parts)",
        ),
    )


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A row of one of two tables."""
    if record.key.startswith("sessions/"):
        session, rejects = SESSION.decode(record.data)
        yield from facts.session(session, _project(record.stream.path))
    else:
        message, rejects = MESSAGE.decode(record.data)
        yield from facts.message(message)
    yield from rejects


def _project(path: str) -> str | None:
    folder = Path(path).parent
    return str(folder.parent) if folder.name == ".crush" else None
