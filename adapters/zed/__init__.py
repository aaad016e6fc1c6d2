"""Zed's own agent: one database, each thread one compressed document in it.

Where:   threads/threads.db in ~/.local/share/zed, on macOS in ~/Library/Application
         Support/Zed, on Windows in %LOCALAPPDATA%/Zed; of a Flatpak below
         ~/.var/app/dev.zed.Zed. All channels share it.
Seen:    nothing real; table and documents as Zed's own source has them in several
         versions of 2025 and 2026.
Trap:    tokens per request are the last request's of each turn; the total of a thread
         is only kept up to date by newer versions, in others it is 0 or stale. The
         larger of the total and the sum counts; a sum is a lower bound. A thread that
         was imported from somebody else is no usage.
Missing: times of messages: a thread has only that of its creation and of its last
         change. Calls of turns that were cut off, and all but the last of each turn,
         in versions that keep no total. Providers like OpenAI may have cached tokens
         in their input. Agents that run in Zed by ACP keep their own history; threads
         in LMDB, before there was this database, are not read.
"""

from collections.abc import Iterable, Iterator, Sequence

from agentlake.adapters.sdk.contract import Options, Record, Reject, Stream, Table
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import matching
from agentlake.adapters.zed import facts
from agentlake.adapters.zed.document import thread_of
from agentlake.adapters.zed.format import ROW
from agentlake.models.fact import Fact

SOURCE = "zed"
NAME = "Zed"
ICON = "📝"
STORES = ("databases",)
ROOTS = (
    Root(
        default=(
            "${XDG_DATA_HOME:-~/.local/share}/zed",
            "~/.var/app/dev.zed.Zed/data/zed",
            "~/Library/Application Support/Zed",
            "${LOCALAPPDATA:-~/AppData/Local}/Zed",
        ),
        strip="threads",
    ),
)
PARSER_VERSION = 2


def discover(root: str, options: Options) -> Iterator[Stream]:
    """The one database."""
    del options
    for path in matching(root, "threads/threads.db"):
        yield Stream(path=path, key=path, reader="sqlite")


def tables(stream: Stream) -> Sequence[Table]:
    """A row is a whole thread, replaced at each save."""
    del stream
    return (
        Table(name="threads", key=("id",), version="updated_at || '/' || length(data)"),
    )


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A thread: what it cost first, as its document may be odd further on."""
    row, rejects = ROW.decode(record.data)
    yield from rejects
    if not row.id:
        yield Reject("thread without id")
        return
    thread, rejects = thread_of(row)
    yield from facts.usage(row, thread)
    yield from facts.session(row, thread)
    yield from facts.messages(row.id, thread)
    yield from rejects
