"""ZCode (z.ai, desktop and CLI): OpenCode's messages beside usage tables of its own.

Where:   ~/.zcode/cli/db/db.sqlite, for desktop and CLI alike; ZCODE_SESSION_DB_PATH and
         ZCODE_SESSION_DB name another one. One that is named in its config.json
         (storage.sessionDbPath) has to be named in the settings.
Seen:    the tables of public forks of 2026; no files of the product itself
Trap:    model_usage has a row per attempt, failed ones included, and forgets it after
         30 days; what a message says of itself counts where no such row is known. Its
         input includes the cache, unless the provider's total says otherwise. A fork
         copies messages, but no usage.
Missing: cost: none is stored. Lines below ~/.zcode/projects, which another reader
         claims to have seen, are not read; nor is the raw traffic in rollout/.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from agentlake.adapters.families.opencode import rules, store
from agentlake.adapters.families.opencode.format import ROW, Millis, Number
from agentlake.adapters.families.opencode.store import MESSAGES, PARTS
from agentlake.adapters.sdk.contract import (
    Health,
    Options,
    Record,
    Reject,
    Stream,
    Table,
)
from agentlake.adapters.sdk.decode import Decoder
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import is_file, matching
from agentlake.models.compaction import Compaction
from agentlake.models.fact import Fact
from agentlake.models.link import Link
from agentlake.models.usage import Usage

SOURCE = "zcode"
NAME = "ZCode"
ICON = "Z"
STORES = ("databases",)
PARSER_VERSION = 3
_DATABASE = "cli/db/db.sqlite"
_USAGE_DAYS = 30
ROOTS = (
    Root(default=("~/.zcode",)),
    Root(default=(), env="ZCODE_SESSION_DB_PATH", file_in="~/.zcode/cli/db"),
    Root(default=(), env="ZCODE_SESSION_DB", file_in="~/.zcode/cli/db"),
)

_LEDGER, _MESSAGE = 2, 1
"""Precedence of a row of model_usage, and of what a message reports of itself."""
_MESSAGE_TIME = "(select time_created from message where message.id = part.message_id)"
TABLES = (
    Table(
        name="session",
        key=("id",),
        order="time_created",
        without=("revert", "permission"),
    ),
    Table(name="session_task_link", key=("parent_session_id", "child_session_id")),
    replace(
        MESSAGES,
        # What has no sequence comes after what has one.
        order="coalesce((select time_created from session"
        " where session.id = message.session_id) + sequence, time_created)",
        instead={
            # Its versions are its own, and say nothing of how it counts.
            "data": store.message_data(
                "null", "sequence is null, sequence, part.time_created, part.rowid"
            )
        },
    ),
    replace(PARTS, order=f"{_MESSAGE_TIME} + coalesce(sequence, 0)"),
    Table(
        name="model_usage",
        key=("session_id", "id"),
        group="session_id",
        order="started_at",
        without=("provider_metadata_json",),
    ),
)


class Attempt(msgspec.Struct, frozen=True, gc=False):
    """One attempt at a request: a row of model_usage."""

    id: str | None = None
    session_id: str | None = None
    assistant_message_id: str | None = None
    provider_id: str | None = None
    model_id: str | None = None
    status: str | None = None
    started_at: Millis | None = None
    completed_at: Millis | None = None
    input_tokens: Number | None = None
    output_tokens: Number | None = None
    reasoning_tokens: Number | None = None
    cache_creation_input_tokens: Number | None = None
    cache_read_input_tokens: Number | None = None
    provider_total_tokens: Number | None = None


class TaskLink(msgspec.Struct, frozen=True, gc=False):
    """A session that works for another one."""

    parent_session_id: str | None = None
    child_session_id: str | None = None


class Compacted(msgspec.Struct, frozen=True, gc=False):
    """A part that says that the context was replaced by a summary."""

    type: str | None = None
    summary: str | None = msgspec.field(default=None, name="summaryMessageId")
    before: Number | None = msgspec.field(default=None, name="preCompactTokenCount")
    after: Number | None = msgspec.field(default=None, name="truePostCompactTokenCount")


ATTEMPT, LINK, COMPACTED = Decoder(Attempt), Decoder(TaskLink), Decoder(Compacted)


def discover(root: str, options: Options) -> Iterator[Stream]:
    """The one database, or the one that is named."""
    del options
    for path in [root] if is_file(root) else matching(root, _DATABASE):
        yield Stream(path=path, key=path, reader="sqlite")


def tables(stream: Stream) -> Sequence[Table]:
    """Sessions and what was said in them, and the usage beside them."""
    del stream
    return TABLES


def parse(record: Record) -> Iterable[Fact | Reject]:
    """One row; messages and parts are as OpenCode writes them."""
    match record.key.partition("/")[0]:
        case "model_usage":
            return _usage(record.data)
        case "session_task_link":
            return _link(record.data)
        case "message":
            return _message(record)
        case "part":
            return _part(record)
        case _:
            return store.parse(record)


def _usage(data: bytes) -> Iterator[Fact | Reject]:
    row, rejects = ATTEMPT.decode(data)
    yield from rejects
    said = (row.input_tokens, row.output_tokens)
    if row.session_id is None or row.id is None:
        yield Reject("model_usage without id or session_id")
    elif any(said) or (row.status == "completed" and said != (None, None)):
        read = max(0, row.cache_read_input_tokens or 0)
        write = max(0, row.cache_creation_input_tokens or 0)
        yield Usage(
            session_id=row.session_id,
            message_id=row.assistant_message_id,
            usage_key=row.id,
            scope=row.assistant_message_id,
            precedence=_LEDGER,
            provider=row.provider_id,
            model=row.model_id,
            called_at=rules.moment(row.started_at or row.completed_at),
            input_tokens=_without_cache(row, read, write),
            cache_read_tokens=read,
            cache_write_tokens=write,
            output_tokens=_positive(row.output_tokens),
            reasoning_tokens=_positive(row.reasoning_tokens),
            is_final=row.status == "completed",
        )


def _without_cache(row: Attempt, read: int, write: int) -> int | None:
    """The input, from which the cache is taken off unless the total says it is."""
    given, total = row.input_tokens, row.provider_total_tokens
    if given is None:
        return None
    whole = given + (row.output_tokens or 0)
    if total is not None and abs(total - whole - read - write) < abs(total - whole):
        return max(0, given)
    return max(0, given - read - write)


def _positive(number: int | None) -> int | None:
    return None if number is None else max(0, number)


def _link(data: bytes) -> Iterator[Fact | Reject]:
    row, rejects = LINK.decode(data)
    yield from rejects
    if row.parent_session_id and row.child_session_id:
        yield Link(
            session_id=row.child_session_id,
            parent_session_id=row.parent_session_id,
            relation="subagent",
        )


def _message(record: Record) -> Iterator[Fact | Reject]:
    """As OpenCode's, but a row of model_usage says better what it cost."""
    for fact in store.parse(record):
        if isinstance(fact, Usage):
            yield replace(fact, scope=fact.message_id, precedence=_MESSAGE)
        elif not isinstance(fact, Compaction):  # the part of its own says more
            yield fact


def _part(record: Record) -> Iterator[Fact | Reject]:
    yield from store.parse(record)
    row, _ = ROW.decode(record.data)
    if row.data is None or '"compaction"' not in row.data:
        return
    part, rejects = COMPACTED.decode(row.data.encode())
    yield from rejects
    if part.type == "compaction" and row.session_id and row.id:
        yield Compaction(
            session_id=row.session_id,
            compaction_id=part.summary or row.id,
            compacted_at=rules.moment(row.time_created),
            tokens_before=_positive(part.before),
            tokens_after=_positive(part.after),
        )


def health(root: str) -> Health:
    """Rows of usage are deleted after 30 days; nothing sets that."""
    del root
    return Health(deleted_after_days=_USAGE_DAYS)
