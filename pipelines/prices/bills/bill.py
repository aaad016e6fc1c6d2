"""A bill as lines: what was billed of one kind, of one model, on one day."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from agentlake.errors import UserError

KINDS = (
    "input",
    "cache_read",
    "cache_write",
    "cache_write_1h",
    "output",
    "web_search",
    "cost",
)
"""What a line counts: tokens of a kind, searches, or US dollars."""
Rows = Sequence[Mapping[str, Any]]


class Line(msgspec.Struct, frozen=True):
    """One line of a bill; several of one day, model and kind are added up."""

    day: date
    model: str | None
    kind: str
    amount: Decimal


class Bill(msgspec.Struct, frozen=True):
    """A bill that was read: whose, of which sort, and its lines."""

    seller: str
    report: str
    lines: list[Line]


def rows_of(path: Path) -> tuple[Rows, Any]:
    """The rows of a CSV file, or the whole of a JSON file; the other is empty."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot be read: {error}. Name a report as CSV or JSON."
        raise UserError(msg) from error
    if text.lstrip()[:1] in ("{", "["):
        try:
            return (), json.loads(text, parse_float=Decimal)
        except ValueError as error:
            msg = f"{path}: begins as JSON and is none: {error}. Export it again."
            raise UserError(msg) from error
    found = list(csv.DictReader(io.StringIO(text)))
    return [{(key or "").strip(): it for key, it in row.items()} for row in found], None


def number(value: Any) -> Decimal | None:
    """A number as reports write it: `1,234`, `$0.12`, or words instead of one."""
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, float):
        return Decimal(repr(value))
    text = str(value or "").replace(",", "").replace("$", "").strip()
    try:
        found = Decimal(text)
    except ArithmeticError:
        return None
    return found if found.is_finite() else None
