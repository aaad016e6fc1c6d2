"""The facts as tables: which kinds there are, and the columns of each."""

import datetime
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from agentlake.models.block import Block
from agentlake.models.compaction import Compaction
from agentlake.models.fact import Fact
from agentlake.models.gone import Gone
from agentlake.models.link import Link
from agentlake.models.message import Message
from agentlake.models.reported_total import ReportedTotal
from agentlake.models.session import Session
from agentlake.models.tool_call import ToolCall
from agentlake.models.tool_result import Spill, ToolResult
from agentlake.models.turn import Turn
from agentlake.models.usage import Usage

FACTS: tuple[type[Fact], ...] = (
    Session,
    Message,
    Block,
    ToolCall,
    ToolResult,
    Spill,
    Usage,
    Turn,
    Compaction,
    Link,
    ReportedTotal,
    Gone,
)

SQL_TYPES: dict[type, str] = {
    str: "varchar",
    int: "bigint",
    float: "double",
    bool: "boolean",
    datetime.datetime: "timestamptz",
}


class Column(msgspec.Struct, frozen=True):
    """One column of a fact's table."""

    name: str
    python_type: type
    required: bool
    at_least: int | None = None
    """Smallest value that makes sense, where there is one."""
    values: Mapping[str, str] | None = None
    """The closed set of its values with their meanings, where the field has one."""

    @property
    def sql_type(self) -> str:
        """Its type in DuckDB."""
        return SQL_TYPES[self.python_type]


LINEAGE: tuple[Column, ...] = (
    Column("source", str, required=True),
    Column("stream_id", int, required=True),
    Column("generation", int, required=True, at_least=0),
    Column("seq", int, required=True, at_least=0),
    Column("part", int, required=True, at_least=0),
    Column("load_id", int, required=True, at_least=1),
)
"""What the loader adds to every row of `staging`."""


HASHED = "text"
"""A field of which the loader stores a hash too, so that texts can be compared, and
asked for, without being read."""
TEXT_HASH = Column("text_hash", int, required=False, at_least=0)


@cache
def stored_columns(fact: type[Fact]) -> tuple[Column, ...]:
    """All columns of the fact's table: the lineage, its own, and its text's hash."""
    own = columns(fact)
    is_hashed = any(column.name == HASHED for column in own)
    return (*LINEAGE, *own, *((TEXT_HASH,) if is_hashed else ()))


@cache
def columns(fact: type[Fact]) -> tuple[Column, ...]:
    """The fact's own columns, in the order of its fields; without the lineage."""
    hints = typing.get_type_hints(fact, include_extras=True)
    return tuple(
        _column(field.name, hints[field.name], required=field.required)
        for field in msgspec.structs.fields(fact)
    )


def _column(name: str, annotation: Any, *, required: bool) -> Column:
    at_least = None
    values = None
    kind = None
    for part in _alternatives(annotation):
        if typing.get_origin(part) is typing.Annotated:
            base, *extras = typing.get_args(part)
            kind = base
            for extra in extras:
                if isinstance(extra, msgspec.Meta):
                    at_least = extra.ge
                    values = (extra.extra or {}).get("values")
        elif part is not types.NoneType:
            kind = part
    if kind not in SQL_TYPES:
        msg = f"field {name}: no column type for {annotation!r}"
        raise TypeError(msg)
    least = None if at_least is None else int(at_least)
    return Column(name, kind, required, least, values)


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        return typing.get_args(annotation)
    return (annotation,)
