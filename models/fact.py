"""The base of every fact, and the few types that their fields are made of.

A fact is one typed row that an adapter's `parse` makes of a record. It repeats
what the disk said: absent is None, ids are the vendor's own, no field is
computed from another record.
"""

from datetime import datetime
from typing import Annotated, ClassVar, TypeAlias

import msgspec

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**40)]
"""A number of tokens, bytes, searches: whole, never negative, and so small that no sum
of them leaves 64 bits. What a file says beyond that is damage."""

Usd: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e6)]
"""The cost of one request; within the same bounds of belief."""

Moment: TypeAlias = datetime
"""A point in time; stored as timestamptz (UTC, microseconds). Naive means UTC."""


def one_of(*values: str, **meanings: str) -> msgspec.Meta:
    """A closed set of values, for the annotation of a field that is a text.

    By keyword, a value with its meaning; the dictionary shows it, checks hold it true.
    """
    allowed = dict.fromkeys(values, "") | meanings
    return msgspec.Meta(pattern=f"^({'|'.join(allowed)})$", extra={"values": allowed})


class Fact(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One row of a `staging` table; the subclass names the table.

    The loader adds the lineage to each row: source, stream_id, generation, seq,
    part (which fact of its kind within the record) and load_id.
    """

    TABLE: ClassVar[str]
