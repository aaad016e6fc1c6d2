"""Hermes Agent (Nous Research): one database per profile, and transcripts beside it.

Where:   ~/.hermes/state.db, sessions/<session>.jsonl, sessions/session_<session>.json,
         and the same below profiles/<name>/. HERMES_HOME overrides ~/.hermes.
Seen:    nothing real; tables and counters as its own source has them (schema 30,
         November 2026). Older databases lack both usage tables and many columns.
Trap:    tokens are running totals per session, model, provider and task; the main loop
         is in `sessions` too, auxiliary tasks (vision, titles, compression) are not.
         A gateway writes only `sessions`, so of these counts what no model row shows.
         A session that was compressed or branched goes on in a new one that begins
         with clones of the last messages, under new ids and the old times. The files in
         sessions/ can hold more messages than the database: of each session the store
         with the most counts. Their times have no zone and are taken for UTC.
Missing: whether a gateway's totals of a session that goes on after a compression
         repeat those of the one before is not settled; they are added. Tokens of
         sessions that only files tell. Which row is the summary of a compaction in
         place. Calls through a proxy on this machine (provider `... via localhost`) may
         stand in another agent's history as well.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from agentlake.adapters.hermes import facts, messages
from agentlake.adapters.hermes.format import MESSAGE, SESSION, SPENT
from agentlake.adapters.sdk.contract import (
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

SOURCE = "hermes"
NAME = "Hermes"
ICON = "🪶"
STORES = ("databases", "lines", "documents")
ROOTS = (Root(env="HERMES_HOME", default=("~/.hermes",)),)
PARSER_VERSION = 3


_FILE = re.compile(
    r"(?P<lines>.+)\.jsonl|session_(?P<document>.+)\.json|(?P<dated>\d{8}_\d{6}.*)\.json"
)


def discover(root: str, options: Options) -> Iterator[Stream]:
    """The database of each profile, and its transcripts.

    Copies of a database made for repair have other names; the index of a gateway, and
    dumps of requests, are no transcripts.
    """
    del options
    streams: list[Stream] = []
    for profile in (root, *folders_in(root, "profiles/*")):
        databases = matching(profile, "state.db")
        streams += [Stream(path=it, key=it, reader="sqlite") for it in databases]
        for path in files_below(f"{profile}/sessions"):
            if found := _FILE.fullmatch(re.split(r"[/\\]", path)[-1]):
                reader: Reader = "jsonl" if found["lines"] else "json_document"
                streams.append(Stream(path=path, key=path, reader=reader))
    yield from sorted(streams, key=lambda stream: stream.path)


def _session_of(path: str) -> str:
    found = _FILE.fullmatch(re.split(r"[/\\]", path)[-1])
    return (found["lines"] or found["document"] or found["dated"]) if found else path


def explode(stream: Stream, data: bytes) -> Iterable[Keyed]:
    """A document, message by message."""
    del stream
    return messages.explode(data)


def tables(stream: Stream) -> Sequence[Table]:
    """Sessions, messages and what each model was used for."""
    del stream
    return (
        Table(
            name="sessions",
            key=("id",),
            order="rowid * 3",
            without=("system_prompt", "user_id"),  # long and equal; a person's account
        ),
        Table(
            name="messages",
            key=("session_id", "id"),
            group="session_id",
            order="id * 3 + 1",
            version="id || '/' || active || '/' || compacted",
        ),
        Table(
            name="session_model_usage",
            key=(
                "session_id",
                "model",
                "billing_provider",
                "billing_base_url",
                "billing_mode",
                "task",
            ),
            order="rowid * 3 + 2",
        ),
    )


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A row of one of three tables, a line of a transcript or a part of a document."""
    match record.stream.reader:
        case "jsonl":
            session_id = _session_of(record.stream.path)
            return messages.line(session_id, record.data, record.key)
        case "json_document":
            session_id = _session_of(record.stream.path)
            return messages.part_of_document(session_id, record.data, record.key)
        case _:
            return _row(record)


def _row(record: Record) -> Iterator[Fact | Reject]:
    match record.key.partition("/")[0]:
        case "sessions":
            session, rejects = SESSION.decode(record.data)
            yield from facts.session(session)
        case "messages":
            message, rejects = MESSAGE.decode(record.data)
            yield from messages.row(message)
        case _:
            spent, rejects = SPENT.decode(record.data)
            yield from facts.spent(spent)
    yield from rejects
