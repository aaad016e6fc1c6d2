"""Kimi CLI and Kimi Code, its successor: a wire of events per session and subagent.

Where:   ~/.kimi/sessions/<md5 of cwd>/<session>/wire.jsonl, subagents below it in
         subagents/<agent>/ (KIMI_SHARE_DIR); ~/.kimi-code/sessions/wd_*/<session>/
         agents/<agent>/wire.jsonl (KIMI_CODE_HOME, or Kimi's desktop app); the title
         is in state.json.
Seen:    Kimi CLI's program up to 1.49.0 (2026-07), Kimi Code's session store and tests
Trap:    forks copy history verbatim, times and usage included, and a fork of Kimi CLI
         only says so in its title (`Fork: `). A session's wire repeats all events of
         its subagents (SubagentEvent): their own wire counts where there is one.
         step.end has the numbers of usage.record again. The scope `session` is no
         total but calls outside of a turn. context*.jsonl is no history. Kimi Code
         names models by alias; the request before says which it is, or config.toml, of
         which nothing else is read. Lines of one program count in folders of the other.
Missing: Kimi CLI's model and cwd (in config.toml and kimi.json only), the calls of its
         compactions. `kimi migrate` takes transcripts along, not usage: both stores are
         read, and such a transcript stands twice.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from agentlake.adapters.kimi import cli, code, state
from agentlake.adapters.kimi.where import Time, Where, moment
from agentlake.adapters.sdk.contract import (
    Chunk,
    Keyed,
    Options,
    Reader,
    Record,
    Reject,
    Stream,
)
from agentlake.adapters.sdk.decode import encode, untyped
from agentlake.adapters.sdk.files import content
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import files_below, matching
from agentlake.models.fact import Fact

SOURCE = "kimi"
NAME = "Kimi"
ICON = "🌙"
STORES = ("lines", "documents")
ROOTS = (
    Root(env="KIMI_SHARE_DIR", default=("~/.kimi",), strip="sessions"),
    Root(
        env="KIMI_CODE_HOME",
        default=(
            "~/.kimi-code",
            "~/Library/Application Support/kimi-desktop/daimon-share/daimon/runtime/"
            "kimi-code/home",
        ),
        strip="sessions",
    ),
)
PARSER_VERSION = 3

_FILE = re.compile(
    r""".*/sessions/[^/]+/(?P<session>[^/]+)/
    (?: (?P<state>state\.json)
    | (?P<code>agents/(?P<agent>[^/]+)/)wire\.jsonl
    | (?:subagents/(?P<subagent>[^/]+)/)?wire\.jsonl
    )""",
    re.VERBOSE | re.DOTALL,
)


class StreamPath(NamedTuple):
    """What a path says: which of the two programs wrote it, and of whom."""

    holds: str
    session_id: str
    agent_id: str | None = None

    @property
    def key(self) -> str:
        """The same wherever the file lies."""
        return "/".join(part for part in reversed(self) if part)


def _stream_path(path: str) -> StreamPath | None:
    path = path.replace("\\", "/")
    if path.endswith("/session_index.jsonl"):
        return StreamPath("index", "")
    if (found := _FILE.fullmatch(path)) is None:
        return None
    if found["state"]:
        return StreamPath("state", found["session"])
    if found["code"]:
        agent = None if found["agent"] == "main" else found["agent"]
        return StreamPath("code", found["session"], agent)
    return StreamPath("cli", found["session"], found["subagent"])


def discover(root: str, options: Options) -> Iterator[Stream]:
    """Wires and states by session and agent, and the index of sessions.

    Imported sessions, contexts and what else lies beside them is not history.
    """
    del options
    keys = set[str]()
    for path in matching(root, "session_index.jsonl"):
        yield Stream(path=path, key=path)
    for path in files_below(str(Path(root, "sessions"))):
        if (place := _stream_path(path)) is None:
            continue
        key = f"{place.key}@{path}" if place.key in keys else place.key
        keys.add(key)
        reader: Reader = "own" if place.holds == "state" else "jsonl"
        yield Stream(path=path, key=key, reader=reader)


def read(stream: Stream, cursor: Any, options: Options) -> Iterator[Chunk]:
    """A state, and which models the aliases meant when it was written.

    Raises OSError, and Unreadable for a state that is half written.
    """
    del cursor, options
    data = content(stream.path)
    untyped(data)
    records = [Keyed("state", data, 0)]
    if models := state.models_of(Path(stream.path).parents[3] / "config.toml"):
        records.append(Keyed("models", encode(models), 1))
    yield Chunk(records=records, cursor=None)


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A line is an event, or an entry of the index."""
    if (place := _stream_path(record.stream.path)) is None:
        return ()
    match place.holds:
        case "index":
            return state.entry(record.data)
        case "state" if record.key == "models":
            return state.aliases(place.session_id, record.data)
        case "state":
            return state.state(place.session_id, record.data)
        case "code":
            return _code(place, record) or _cli(place, record) or _NO_EVENT
        case _:
            return _cli(place, record) or _code(place, record) or _NO_EVENT


_NO_EVENT = (Reject("neither `type` nor `message.type`: no event of Kimi"),)


def _code(place: StreamPath, record: Record) -> Iterable[Fact | Reject] | None:
    """What Kimi Code says by this line; None when it is none of its lines."""
    line, rejects = code.LINE.decode(record.data)
    if line.type is None:
        return rejects or None
    where = _where(place, record, line.time)
    return chain(code.facts(where, line), rejects)


def _cli(place: StreamPath, record: Record) -> Iterable[Fact | Reject] | None:
    """What Kimi CLI says by this line; None when it is none of its lines."""
    event, rejects = cli.LINE.decode(record.data)
    if event.message is None or event.message.type is None:
        return rejects or None
    where = _where(place, record, event.timestamp)
    return chain(cli.facts(where, event), rejects)


def _where(place: StreamPath, record: Record, time: Time) -> Where:
    return Where(place.session_id, place.agent_id, record.key, moment(time))
