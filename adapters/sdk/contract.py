"""What an adapter is, and what passes between it and the loader.

An adapter is a module with the names of `Adapter`; there is no base class.
The type checker holds the built-in ones to this Protocol (`adapters.registry`),
and the conformance tests hold everyone's to its promises.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from agentlake.models.fact import Fact
from agentlake.models.roots import Root

Options: TypeAlias = Mapping[str, Any]
"""The source's own table of the settings file, handed on unread."""

Reader: TypeAlias = Literal["jsonl", "document"]


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


class Reject(msgspec.Struct, frozen=True):
    """A record, or a part of one, that could not be understood, and why."""

    reason: str


class Adapter(Protocol):
    """One agent product: where its files are and what a record of them says.

    `discover` and `parse` are the whole job. `parse` is pure: the same record
    always gives the same facts, and neither clock, disk nor environment is asked.
    It may yield a Reject for a bad part and go on; what it raises, the SDK turns
    into a Reject of the rest of that record.
    """

    SOURCE: str
    ROOTS: tuple[Root, ...]
    PARSER_VERSION: int
    """Raise it when `parse` gives other facts for the same record: history is
    then parsed again from raw."""

    @staticmethod
    def discover(root: str, options: Options) -> Iterator[Stream]:
        """Every stream below `root`, sorted by path; files are not opened."""
        ...

    @staticmethod
    def parse(record: Record) -> Iterable[Fact | Reject]:
        """The facts of one record."""
        ...
