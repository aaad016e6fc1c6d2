"""OpenClaw (Clawdbot, Moltbot, Moldbot): sessions in Pi's format, then in a database.

Where:   <state>/agents/<agent>/sessions/<session id>.jsonl, archived beside it as
         .jsonl.deleted.<time>, .jsonl.reset.<time>, .full.bak, some .zst, and in
         cold/<hash>.jsonl.zst; sessions.json is the index. Since 2026.7 in
         <state>/agents/<agent>/agent/openclaw-agent.sqlite. <state> is ~/.openclaw,
         moved by OPENCLAW_STATE_DIR, or ~/.clawdbot, ~/.moltbot, ~/.moldbot.
Seen:    real files of March 2026 (session version 3); the database of 2026.9.6 in its
         source only: what stands in it here is not proven on a real one
Trap:    the program imports its files into the database: entries are known by id and
         time wherever they lie. The database packs large events. The gateway says in
         front of a text who speaks (a messenger, a schedule, itself): that becomes the
         label, and leaves the text; its time and its sender can be switched off.
         Mirrored messages were no calls, a heartbeat was one. Counters of the index
         tell how full a context is.
Missing: an event that is rewritten in place in the database after it was loaded; the
         parent of a subagent (only a key names it); prefixes that are not known yet
         stay in the text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from agentlake.adapters.families.pi.rules import At
from agentlake.adapters.openclaw import stores, talk
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
from agentlake.adapters.sdk.scan import folders_in, matching
from agentlake.models.fact import Fact

SOURCE = "openclaw"
NAME = "OpenClaw"
ICON = "🦞"
STORES = ("lines", "databases", "documents")
ROOTS = (
    Root(env="OPENCLAW_STATE_DIR", default=("~/.openclaw",), strip="agents"),
    Root(default=("~/.clawdbot", "~/.moltbot", "~/.moldbot")),
)
PARSER_VERSION = 2

_FILE = re.compile(
    r"(?P<session>.+?)(?:\.checkpoint\.[^/]+)?"
    r"(?:\.jsonl(?:\.(?:deleted|reset|bak)[^/]*|\.full\.bak)?|\.full\.bak)(?:\.zst)?"
)
_DATABASE = "openclaw-agent.sqlite"


def discover(root: str, options: Options) -> Iterator[Stream]:
    """Transcripts by agent and session, their archives by name, indexes, databases."""
    del options
    streams: list[Stream] = []
    places: tuple[tuple[str, Reader], ...] = (
        ("sessions/sessions.json", "json_document"),
        (f"agent/{_DATABASE}", "sqlite"),
    )
    for agent in folders_in(root, "agents/*"):
        streams += _transcripts(agent)
        for path in matching(agent, "sessions/cold/*.jsonl.zst"):
            key = f"{Path(agent).name}/cold/{Path(path).name}"
            streams.append(Stream(path=path, key=key, reader="document"))
        for name, reader in places:
            for path in matching(agent, name):
                streams.append(Stream(path=path, key=path, reader=reader))
    yield from sorted(streams, key=lambda stream: stream.path)


def _transcripts(agent: str) -> Iterator[Stream]:
    """The live file of a session has its id as key; without one, its first archive."""
    named = [
        (path, session)
        for path in map(Path, matching(agent, "sessions/*"))
        if (session := session_of(path.name))
    ]
    known: set[str] = set()
    for path, session in sorted(named, key=lambda it: (len(it[0].name), it[0].name)):
        key = f"{Path(agent).name}/{session}"
        key = f"{Path(agent).name}/{path.name}" if key in known else key
        known.add(key)
        yield Stream(path=str(path), key=key)


@lru_cache(maxsize=4096)
def session_of(name: str) -> str | None:
    """The session whose transcript a file of this name is."""
    found = None if ".trajectory." in name else _FILE.fullmatch(name)
    return found["session"] if found else None


def tables(stream: Stream) -> Sequence[Table]:
    """The transcripts, and what says which session is for what."""
    del stream
    return stores.TABLES


def explode(stream: Stream, data: bytes) -> Iterable[Keyed]:
    """The entries of the index."""
    del stream
    return stores.entries_of_index(data)


def parse(record: Record) -> Iterable[Fact | Reject]:
    """An entry of a transcript, an entry of the index, a row or a packed transcript."""
    match record.stream.reader:
        case "jsonl":
            name = re.split(r"[/\\]", record.stream.path)[-1]
            return talk.facts(record.data, At(session_of(name) or name, record.key))
        case "sqlite":
            return stores.row(record, record.key.partition("/")[0])
        case "json_document":
            return stores.entry_of_index(record)
        case _:
            return stores.packed(record)
