"""Where OpenCode's sessions are, how they are selected, and which record is what."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from agentlake.adapters.families.opencode import messages, rows, rules
from agentlake.adapters.families.opencode.format import (
    EVENT,
    MESSAGE,
    PART,
    ROW,
    SESSION,
)
from agentlake.adapters.families.opencode.where import Where
from agentlake.adapters.sdk.contract import (
    Chunk,
    Facts,
    Keyed,
    Options,
    Reader,
    Record,
    Reject,
    Stream,
    Table,
)
from agentlake.adapters.sdk.decode import Unreadable, encode, untyped
from agentlake.adapters.sdk.files import content
from agentlake.adapters.sdk.scan import (
    beside,
    files_below,
    folders_in,
    is_file,
    matching,
)
from agentlake.models.fact import Fact

_FILE = re.compile(
    r""".*/(?:
    storage/session/[^/]+/(?P<session>[^/]+)
    | storage/session/info/(?P<old_session>[^/]+)
    | storage/(?:session/)?message/(?P<of>[^/]+)/(?P<message>[^/]+)
    | storage/part/(?P<of_message>[^/]+)/(?P<part>[^/]+)
    | storage/session/part/(?P<old_of>[^/]+)/(?P<old_message>[^/]+)/(?P<old_part>[^/]+)
    )\.json""",
    re.VERBOSE | re.DOTALL,
)
_TIME_IN_ID = re.compile(r"[a-z]+_([0-9a-f]{12})")
_EPOCH_MS = 1_577_836_800_000
"""2020: times count from here, to fit where a place in a stream is kept."""
_MOST = 1 << 40

_TYPE = "json_extract(part.data, '$.type')"
_AUTO = "json_extract(part.data, '$.auto')"
_INJECTED = (
    "json_extract(part.data, '$.synthetic') or json_extract(part.data, '$.ignored')"
)


def message_data(version: str, order: str) -> str:
    """SQL for a message's `data` with what its parts say of it.

    By itself it tells neither what it cost (`tokens` are those of its last step) nor
    whether a person wrote it. The diffs in it, which can be hundreds of megabytes and
    are derived, are cut. `version` and `order` are SQL for the version that began the
    session and for the order of the parts.
    """
    return f"""
    case when json_valid(message.data) then json_set(
        json_remove(message.data, '$.summary.diffs'),
        '$.version',
        {_no_blob(version)},
        '$.parts',
        (
            select json_group_array(json(it)) from (
                select case
                    when not json_valid(part.data) then null
                    when instr(part.data, '"step-finish"') and {_TYPE} = 'step-finish'
                    then json_object(
                        'type', 'step-finish',
                        'reason', json_extract(part.data, '$.reason'),
                        'cost', json_extract(part.data, '$.cost'),
                        'tokens', json_extract(part.data, '$.tokens')
                    )
                    when json_extract(message.data, '$.role') = 'assistant' then null
                    when {_TYPE} = 'compaction' then json_object(
                        'type', 'compaction',
                        'auto', json(iif({_AUTO}, 'true', 'false'))
                    )
                    else json_object(
                        'type', {_TYPE},
                        'synthetic', json(iif({_INJECTED}, 'true', 'false'))
                    )
                end as it
                from part where part.message_id = message.id order by {order}
            ) where it is not null
        )
    ) else message.data end"""


def _no_blob(value: str) -> str:
    """SQL for a value that JSON may not be able to hold, as a text then."""
    return f"(case when typeof({value}) = 'blob' then hex({value}) else {value} end)"


SECRET_OR_LARGE = ("share_url", "summary_diffs", "permission", "revert", "metadata")
MESSAGES = Table(
    name="message",
    key=("session_id", "id"),
    group="session_id",
    order="time_created",
    version="time_updated || '/' || (select count(*) from part"
    " where part.message_id = message.id)",
    instead={
        "data": message_data(
            "(select version from session where session.id = message.session_id)",
            "part.id",
        )
    },
)
PARTS = Table(
    name="part",
    key=("session_id", "id"),
    group="session_id",
    # Its id counts up within its message; its time is that of an import.
    order="(select time_created from message where message.id = part.message_id) + "
    "(select count(*) from part as other where other.message_id = part.message_id"
    " and other.id <= part.id)",
    version="time_updated",
)
_COUNTED = " or ".join(
    f"json_extract(message.data, '$.tokens.{name}') > 0"
    for name in ("input", "output", "reasoning", "cache.read", "cache.write")
)
_IS_ALL = (
    "not exists (select 1 from message where message.session_id = session.id"
    f" and json_valid(message.data) and ({_COUNTED}))"
)
"""Whether only the session itself counts. Else its running totals are left out: each
step would be a new version of the row."""
_TOTALS = ("cost", *(f"tokens_{name}" for name in ("input", "output", "reasoning")))
_TOTALS = (*_TOTALS, "tokens_cache_read", "tokens_cache_write")


def _worktree(table: str) -> str:
    return f"(select worktree from project where project.id = {table}.project_id)"


TABLES = (
    Table(
        name="session",
        key=("id",),
        order="time_created",
        without=SECRET_OR_LARGE,
        instead={
            "worktree": _worktree("session"),
            **{it: f"case when {_IS_ALL} then session.{it} end" for it in _TOTALS},
        },
    ),
    MESSAGES,
    PARTS,
    Table(
        name="session_v2",
        key=("id",),
        order="time_created",
        without=SECRET_OR_LARGE,
        instead={"worktree": _worktree("session_v2")},
    ),
    Table(
        name="session_message",
        key=("session_id", "id"),
        group="session_id",
        # `seq` is the order within a session; sessions would all begin at one place.
        order="(select time_created from session_v2 where session_v2.id = session_id)"
        " + seq",
        version="time_updated",
        # Before V2 the table had the name, but nothing that anybody said.
        where="exists (select 1 from sqlite_master where name = 'session_v2')",
    ),
    Table(
        name="event",
        key=("aggregate_id", "id"),
        above="rowid",
        # By far the largest table: before V2 it is not even looked through.
        where="exists (select 1 from sqlite_master where name = 'session_v2')"
        " and type like 'session.usage.recorded%'",
    ),
)


def discover(root: str, database: re.Pattern[str]) -> Iterator[Stream]:
    """The databases in a data directory, and the files of the trees below it.

    `root` may also be a database itself, whatever its name.
    """
    if is_file(root):
        yield Stream(path=root, key=root, reader="sqlite")
        return
    streams: dict[str, Stream] = {}
    for path in matching(root, "*.db"):
        if database.fullmatch(Path(path).name):
            streams[path] = Stream(path=path, key=path, reader="sqlite")
    for stream in _trees(root):
        key = stream.key if stream.key not in streams else f"{stream.key}@{stream.path}"
        streams[key] = Stream(path=stream.path, key=key, reader=stream.reader)
    yield from sorted(streams.values(), key=lambda stream: stream.path)


def _trees(root: str) -> Iterator[Stream]:
    """Files by what they hold, in keys that no other file can change."""
    for top in (f"{root}/storage", *folders_in(root, "project/*/storage")):
        for kind in ("message", "part", "session"):
            for path in files_below(f"{top}/{kind}"):
                if (found := _FILE.fullmatch(path)) is None:
                    continue
                if message := found["message"]:
                    key = f"message/{found['of']}/{message}"
                elif part := found["part"] or found["old_part"]:
                    key = f"part/{found['of_message'] or found['old_message']}/{part}"
                elif name := found["old_session"] or found["session"]:
                    key = f"session/{name}"
                reader: Reader = "own" if kind_of(key) == "session" else "json_document"
                yield Stream(path=path, key=key, reader=reader)


def kind_of(key: str) -> str:
    """What a file of the tree, or a record, holds."""
    return key.partition("/")[0]


def read(stream: Stream, cursor: Any, options: Options) -> Iterator[Chunk]:
    """The file of a session, and the folder of its project, which another file knows.

    Raises OSError, and Unreadable for a file that is half written.
    """
    del cursor, options
    records = list(explode(stream, content(stream.path)))
    path = Path(stream.path)
    project = path.parents[2] / "project" / f"{path.parent.name}.json"
    if (told := beside(project)) and (worktree := _worktree_in(told)):
        key = records[0].key.replace("session/", "worktree/", 1)
        kept = encode({"worktree": worktree})
        records.append(Keyed(key, kept, (records[0].seq or 0) + 1))
    yield Chunk(records=records, cursor=None)


def _worktree_in(project: bytes) -> str | None:
    try:
        value = untyped(project)
    except Unreadable:
        return None
    worktree = value.get("worktree") if isinstance(value, dict) else None
    return worktree if isinstance(worktree, str) else None


def explode(stream: Stream, data: bytes) -> Iterable[Keyed]:
    """A file of the tree is one record; it is cut as a row is (`message_data`)."""
    kind, _, rest = stream.key.partition("/")
    value = untyped(data)
    seq = 0
    if kind == "part":
        found = _TIME_IN_ID.match(rest.rpartition("/")[2])
        seq = int(found[1], 16) % _MOST if found else 0
    elif isinstance(value, dict):
        time = value.get("time")
        created = time.get("created") if isinstance(time, dict) else None
        if isinstance(created, int | float):
            seq = min(max(0, int(created) - _EPOCH_MS), _MOST - 1)
        summary = value.get("summary")
        if isinstance(summary, dict) and summary.pop("diffs", None):
            data = encode(value)
    yield Keyed(key=f"{kind}/{rest.partition('@')[0]}", data=data, seq=seq)


def tables(stream: Stream) -> Sequence[Table]:
    """Accounts, credentials and shares are not among them."""
    del stream
    return TABLES


def parse(record: Record) -> Iterable[Fact | Reject]:
    """The record's kind is the table that it is from, or the folder of its file."""
    return parse_as(None, record)


def parse_as(version: str | None, record: Record) -> Iterable[Fact | Reject]:
    """As `parse`; what does not say which version began it was begun by this one."""
    kind, _, rest = record.key.partition("/")
    if record.stream.reader != "sqlite":
        return _of_file(record, kind, rest, version)
    if kind in ("session", "session_v2"):
        return _session_row(kind, rest, record.data)
    return _row(kind, rest, record.data, version)


def _of_file(record: Record, kind: str, rest: str, version: str | None) -> Facts:
    above, _, id_ = rest.partition("/")
    if kind in ("session", "worktree"):
        said, rejects = SESSION.decode(record.data)
        yield from messages.session_facts(above, said)
    elif kind == "message":
        whole, rejects = MESSAGE.decode(record.data)
        where = Where(above, id_, rules.TREE, version=version)
        yield from messages.message_facts(where, whole)
    else:
        part, rejects = PART.decode(record.data)
        found = _FILE.fullmatch(record.stream.path)
        session = part.session_id or (found["old_of"] if found else None)
        if session is None:
            yield Reject("a part that does not say of which session it is")
            return
        where = Where(session, above, rules.TREE, id_, version=version)
        yield from messages.part_facts(where, part)
    yield from rejects


def _session_row(table: str, id_: str, data: bytes) -> Facts:
    said, rejects = SESSION.decode(data)
    precedence = rules.V2 if table == "session_v2" else rules.V1
    yield from rows.total_facts(id_, said, precedence)
    yield from messages.session_facts(id_, said)
    yield from rejects


def _row(table: str, key: str, data: bytes, version: str | None) -> Facts:
    row, rejects = ROW.decode(data)
    yield from rejects
    if row.data is None:
        yield Reject(f"{table} without data")
        return
    session, _, id_ = key.partition("/")
    session = row.session_id or session
    inner = row.data.encode()
    if table == "event":
        event, rejects = EVENT.decode(inner)
        yield from rows.event_facts(row, event)
    elif table == "part":
        part, rejects = PART.decode(inner)
        at, of_message = row.time_created, row.message_id or ""
        where = Where(session, of_message, rules.V1, id_, at, version)
        yield from messages.part_facts(where, part)
    elif table == "message":
        said, rejects = MESSAGE.decode(inner)
        where = Where(session, id_, rules.V1, at=row.time_created, version=version)
        yield from messages.message_facts(where, said)
    else:
        said, rejects = MESSAGE.decode(inner)
        where = Where(session, id_, rules.V2, at=row.time_created)
        yield from rows.message_facts(where, row, said)
    yield from rejects
