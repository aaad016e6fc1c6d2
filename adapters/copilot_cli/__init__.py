"""GitHub Copilot CLI: one event log per session, and a database of calls beside it.

Where:   ~/.copilot/session-state/<session id>/events.jsonl with a workspace.yaml,
         before that session-state/<session id>.jsonl; history-session-state/*.json
         of the first versions; session-store.db; otel/*.jsonl where the export is
         switched on. COPILOT_HOME overrides ~/.copilot.
Seen:    events of 1.0.59 and 1.0.60; the database and the export in descriptions only
Trap:    one call is reported up to four times: by the database, the export, the end of
         the run (shutdown) and, its output only, by its message. One counts per session
         and model, in this order. Whether a shutdown reports its run or the whole
         session differs by version; core._run_segment_ends decides by the outputs of
         the messages, which is not proven on real files. Prompts include the cache.
Missing: the input of a run that crashed, until there is a database; sessions left by
         /new and /clear. What a compaction used counts only where neither the end of
         its run nor the database tells it. Prompts that only the database has. An
         export elsewhere (COPILOT_OTEL_FILE_EXPORTER_PATH) must be linked into otel/;
         that it names sessions as the log does was not seen. Premium requests are only
         kept in raw.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from agentlake.adapters.copilot_cli import export, runs, stores
from agentlake.adapters.families.copilot import talk
from agentlake.adapters.families.copilot.format import EVENT, Data
from agentlake.adapters.families.copilot.talk import At
from agentlake.adapters.sdk.contract import (
    Facts,
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

SOURCE = "copilot_cli"
NAME = "Copilot CLI"
ICON = "🐙"
STORES = ("lines", "databases", "documents")
ROOTS = (
    Root(
        env="COPILOT_HOME",
        default=("~/.copilot", "${XDG_STATE_HOME:-~/.local/state}/.copilot"),
        strip="session-state",
    ),
)
PARSER_VERSION = 2

_FILE = re.compile(
    r"""session-state/(?P<session>[^/]+)
        (?: /(?P<events>events\.jsonl) | /(?P<yaml>workspace\.yaml) | (?P<flat>\.jsonl))
    | (?P<history>history-session-state/session_[^/]+\.json)
    | (?P<export>otel/[^/]+\.jsonl)
    | (?P<store>session-store\.db)
    """,
    re.VERBOSE,
)
_FOLDERS = ("history-session-state", "otel", "session-state")
READERS: dict[str, Reader] = {
    "yaml": "document",
    "history": "json_document",
    "store": "sqlite",
}

EVENTS: dict[str, Callable[[At, Data], Facts]] = {
    "session.start": runs.started,
    "session.resume": runs.started,
    "session.context_changed": runs.moved,
    "session.model_change": runs.model_changed,
    "session.title_changed": runs.title,
    "session.error": talk.error,
    "session.compaction_complete": runs.compaction,
    "session.shutdown": runs.shutdown,
    "system.message": talk.system,
    "user.message": talk.prompt,
    "assistant.turn_start": runs.turn,
    "assistant.message": runs.reply,
    "assistant.reasoning": talk.reasoning,
    "tool.execution_start": talk.call,
    "tool.execution_complete": talk.result,
    "subagent.started": talk.subagent,
}
"""What makes facts of each type of event; the others are the program's own."""


def discover(root: str, options: Options) -> Iterator[Stream]:
    """Event logs by their session, all else by path.

    Of a session that has a log in both layouts, the older is named apart.
    """
    del options
    files = [file for name in _FOLDERS for file in files_below(f"{root}/{name}")]
    for path in sorted([*files, *matching(root, "session-store.db")]):
        found = _FILE.fullmatch(os.path.relpath(path, root).replace("\\", "/"))
        if found is None:
            continue
        kind = found.lastgroup or ""
        key = path
        if kind == "events":
            key = found["session"]
        elif kind == "flat":
            key = f"{found['session']}@flat"
        yield Stream(path=path, key=key, reader=READERS.get(kind, "jsonl"))


def explode(stream: Stream, data: bytes) -> Iterable[Keyed]:
    """The messages of a file of the first versions."""
    return stores.history(stream, data)


def tables(stream: Stream) -> Sequence[Table]:
    """Sessions and calls; turns repeat the prompts of the event logs."""
    del stream
    return stores.TABLES


def parse(record: Record) -> Iterable[Fact | Reject]:
    """One event, one line of the export, one row or one old message."""
    stream = record.stream
    folder = stream.path.replace("\\", "/").rpartition("/")[0]
    if stream.reader == "sqlite":
        return stores.row(record)
    if stream.reader == "json_document":
        return stores.old_message(record)
    if stream.reader == "document":
        return stores.workspace(folder.rpartition("/")[2], record.data)
    if stream.key == stream.path:
        return export.exported(record)
    event, rejects = EVENT.decode(record.data)
    make = EVENTS.get(event.type or "")
    if make is None:
        return ()
    at = At(
        session=stream.key.partition("@")[0],
        agent=event.agent_id or None,
        event=event.id or record.key,
        at=event.timestamp,
    )
    return chain(make(at, event.data or Data()), rejects)
