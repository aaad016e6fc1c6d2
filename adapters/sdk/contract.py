"""What an adapter is, and what passes between it and the loader.

An adapter is a module with the names of `Adapter`; there is no base class.
The type checker holds the built-in ones to this Protocol (`adapters.registry`),
and the conformance tests hold everyone's to its promises.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from agentlake.adapters.sdk.roots import Root
from agentlake.models.fact import Fact

Options: TypeAlias = Mapping[str, Any]
"""The source's own table of the settings file, handed on unread."""

Reader: TypeAlias = Literal["jsonl", "document", "json_document", "sqlite", "own"]
"""How a stream is read.

jsonl           a record is a line
document        a record is the whole file; each version of it is kept and counts
json_document   the whole file, which `explode` takes apart into keyed records
sqlite          a live database; a record is a row of one of `tables`
own             the adapter's own `read`

The last three give keyed records: one that changed is a new version, and what the
newest version says takes the place of what older ones said.
"""


Store: TypeAlias = Literal["lines", "documents", "databases"]
"""A kind of store: files that grow by lines, files that are rewritten, databases."""


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    """One thing on disk that is read incrementally.

    `key` is its identity: what stays the same when the agent moves, archives or
    compresses the file. Where nothing of the kind exists, it is the path.
    """

    path: str
    key: str
    reader: Reader = "jsonl"


class Record(msgspec.Struct, frozen=True, gc=False):
    """The smallest verbatim piece of a stream, with where it was found.

    `data` is the record exactly as found, without its line end. `seq` counts every
    physical line from 0; `offset` is in bytes of the (decompressed) stream.
    `key` is unique within one reading of the stream and survives a rewrite of it.
    """

    stream: Stream
    seq: int
    offset: int
    key: str
    data: bytes


class Keyed(msgspec.Struct, frozen=True, gc=False):
    """One record of a stream that is not read line by line.

    `key` says what it is (`messages/msg_1`): unique in the stream, and the same as
    long as it is the same thing. `seq` is its place in the order of the data itself,
    never in that of arrival; None counts on from the record before.
    """

    key: str
    data: bytes
    seq: int | None = None


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """Some keyed records of one reading, and where the next reading goes on.

    `cursor` is the reader's own and may be anything that JSON can hold. Of each key
    prefix in `complete` this reading has given all records there are: what is
    in raw below it and was not given is gone from the source.
    """

    records: list[Keyed]
    cursor: Any
    complete: tuple[str, ...] = ()


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """One table of a database and how its rows are told apart and found again.

    A record is a row as JSON: an object by column name, a blob as
    `{"$blob": "<base64>"}`. Its key is `<name>/<key columns joined by />`.
    """

    name: str
    key: tuple[str, ...]
    """Columns that identify a row; with `group`, its column comes first."""
    order: str = "rowid"
    """SQL for a row's place in the data's own order: a number that counts up, or a
    time in (milli)seconds since 1970. Never text."""
    group: str | None = None
    """Column of the parent. A group whose rows changed is read again as a whole, and
    what is missing from it is gone."""
    version: str | None = None
    """SQL for a value that is another one after each change of a row: its updated
    column, or `length(data)` where there is none better. None: the whole row."""
    above: str | None = None
    """Column that only rises for new and replaced rows (`id`, `rowid`). Then only
    rows above the highest one seen are read; deletions are not noticed."""
    where: str | None = None
    """SQL that leaves rows out: what is secret or not history."""
    without: tuple[str, ...] = ()
    """Columns that are never selected: secrets, and what is large and derived."""
    instead: Mapping[str, str] = {}
    """SQL that is selected in place of a column, to leave out a part of it; under a
    name that no column has, beside them: what a row of another table says of this one.
    An older database that it does not fit goes without, as without `version` and
    `order`."""
    parts: Callable[[Keyed], Iterable[Keyed]] | None = None
    """Takes apart a row that holds many records, each again in every version of it.
    Keys of parts begin with the table's name, their `seq` is such as `order` gives.
    What a later version of the row no longer holds was trimmed: it is not gone."""


class Reject(msgspec.Struct, frozen=True):
    """A record, or a part of one, that could not be understood, and why."""

    reason: str


Facts: TypeAlias = Iterator[Fact | Reject]
"""What a part of an adapter makes of a record."""


class Unknown(Reject, frozen=True):
    """A type of row, item or event that this adapter neither uses nor knows to ignore.

    `reason` names it (`row observer-ref`). It is counted by this name and shown by
    `agentlake doctor`: a new version of the agent may have begun to write it.
    """


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent's own settings say about how long its history lasts."""

    deleted_after_days: int | None = None
    """It deletes what nobody wrote to for so many days; None: it deletes nothing."""
    warnings: tuple[str, ...] = ()
    """What is wrong or lost, in words a user can act on: history switched off, a
    limit on how much is kept, a part of it that is encrypted."""
    notes: tuple[str, ...] = ()
    """What is so by the agent's nature: good to know, and nobody can change it."""


class Adapter(Protocol):
    """One agent product: where its files are and what a record of them says.

    `discover` and `parse` are the whole job. `parse` is pure: the same record
    always gives the same facts, and neither clock, disk nor environment is asked.
    It may yield a Reject for a bad part and go on, and an Unknown for a type that it
    does not know; what it raises, the SDK turns into a Reject of the rest of that
    record.
    """

    SOURCE: str
    ROOTS: tuple[Root, ...]
    PARSER_VERSION: int
    """Raise it when `parse` gives other facts for the same record: history is
    then parsed again from raw."""

    @staticmethod
    def discover(root: str, options: Options) -> Iterator[Stream]:
        """Every stream below `root`, sorted by path; files are not opened.

        `sdk.scan` looks: what it cannot look at is noted, and no link leads it out.
        What this raises costs this root, and no other.
        """
        ...

    @staticmethod
    def parse(record: Record) -> Iterable[Fact | Reject]:
        """The facts of one record."""
        ...


class Explodes(Protocol):
    """An adapter with streams that are read by `json_document`."""

    @staticmethod
    def explode(stream: Stream, data: bytes) -> Iterable[Keyed]:
        """The records of a whole file. Pure, like `parse`.

        Raises Unreadable for a file that is half written: it is read again later.
        """
        ...


class HasTables(Protocol):
    """An adapter with streams that are read by `sqlite`."""

    @staticmethod
    def tables(stream: Stream) -> Sequence[Table]:
        """The tables of this database that are read; others are never touched."""
        ...


class ReadsItself(Protocol):
    """An adapter with streams that no reader of the SDK reads: an API, an export."""

    @staticmethod
    def read(stream: Stream, cursor: Any, options: Options) -> Iterator[Chunk]:
        """What is new since `cursor`, which is None at first.

        `sdk.files` opens: what is no plain file keeps nobody waiting.
        """
        ...


class Introduces(Protocol):
    """An adapter that says what its agent is called; else its SOURCE names it."""

    NAME: str
    ICON: str
    """An emoji, or a letter."""
    STORES: tuple[Store, ...]
    """Where the agent keeps its history, the most telling first."""


class TellsHealth(Protocol):
    """An adapter that knows what its agent does to its history."""

    @staticmethod
    def health(root: str) -> Health:
        """What the agent's settings below `root` say; only small files are read."""
        ...
