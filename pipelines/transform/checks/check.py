"""What a check is, and what came of it."""

from collections.abc import Sequence, Set
from typing import Any, Literal

import msgspec

from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.schema import LONG_TEXT

Severity = Literal["error", "warn"]

SHOWN_ROWS = 20
TRANSCRIPT: Set[str] = LONG_TEXT | {"title"}
"""Columns that are never shown: bad rows go into logs and other storage."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that must hold of a table."""

    table: str
    name: str
    description: str
    severity: Severity = "error"
    bad_rows: str
    """The query that gives the rows for which it does not hold."""
    condition: str | None = None
    """What is true of a bad row, where one row tells: many such checks are counted in
    one pass over the table."""
    never_null: str | None = None
    """The column that must not be null, for a check that asks just that."""
    reads: tuple[str, ...] = ()
    """The other tables that the query reads."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a check."""

    check: Check
    bad: int
    rows: int | None = None
    """How many rows were checked, where that is known."""

    @property
    def is_good(self) -> bool:
        """Whether it holds."""
        return not self.bad


def run(connection: Connection, check: Check) -> Outcome:
    """Count the rows for which the check does not hold."""
    ((bad,),) = connection.execute(
        f"select count(*) from ({check.bad_rows})"
    ).fetchall()
    return Outcome(check=check, bad=bad)


def examples(connection: Connection, check: Check) -> list[dict[str, Any]]:
    """Some of the bad rows, transcripts left out."""
    done = connection.execute(f"from ({check.bad_rows}) limit {SHOWN_ROWS}")
    names = [column[0] for column in done.description or ()]
    rows = [dict(zip(names, row, strict=True)) for row in done.fetchall()]
    return [_shown(row, names) for row in rows]


def _shown(row: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: row[name] for name in names if name not in TRANSCRIPT}
