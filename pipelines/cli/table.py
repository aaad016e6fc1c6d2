"""Tables for people: aligned, as wide as the terminal, and safe to print."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal

import msgspec

from agentlake.pipelines.cli.width import clean, readable, shorten
from agentlake.pipelines.cli.width import width as width_of

_GAP = "  "
_THOUSAND = 1000
_MINUTE_MS = 60_000
_SMALL_DIGITS = 4
_LEAST_BAR, _MOST_BAR = 5, 24
_EIGHTHS = "▏▎▍▌▋▊▉"
_LEAST = 12
"""A column that gives way keeps at least this much ..."""
_MOST = 60
"""... and where no terminal says how much fits, is at most so wide."""


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """How one column is shown."""

    title: str
    right: bool = False
    gives_way: str | None = None
    """`end` or `start`: which part of a long text may go when there is no room."""
    is_whole: bool = False
    """Whether all of it is shown where no terminal says how much fits."""
    dropped: int = 0
    """0 is never left out; of the others the highest first."""


def is_looked_at() -> bool:
    """Whether stdout is a terminal that can show every character of a picture."""
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return sys.stdout.isatty() and encoding.startswith("utf")


def terminal_width() -> int | None:
    """How much fits on a line; None when nobody looks at lines."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS"):
        return shutil.get_terminal_size().columns
    return None


def render(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    *,
    width: int | None = None,
    bold: bool = False,
    tails: Mapping[int, str] | None = None,
    bars: Mapping[int, Decimal] | None = None,
    left_out: list[str] | None = None,
) -> str:
    """The table as text, without the last line end.

    `tails` stand in place of the last cell of a row and may be longer than it. `bars`
    are drawn to the right of their rows, if the width leaves room for them. `left_out`
    gets the titles of the columns that there was no room for.
    """
    titles = [clean(column.title) for column in columns]
    cells = [
        [
            _bounded(cell, column, width)
            for cell, column in zip(row, columns, strict=True)
        ]
        for row in rows
    ]
    widths = [
        max(map(width_of, (title, *(row[place] for row in cells))))
        for place, title in enumerate(titles)
    ]
    shown = _fit(columns, widths, width)
    if left_out is not None:
        left_out += [it for place, it in enumerate(titles) if place not in shown]
    used = sum(widths[place] for place in shown) + len(_GAP) * len(shown)
    room = min(_MOST_BAR, width - used) if width and bars else 0
    lines = [_line(columns, titles, widths, shown)]
    if bold:
        lines[0] = f"\x1b[1m{lines[0]}\x1b[0m"
    for number, row in enumerate(cells):
        line = _line(columns, row, widths, shown)
        if tails and number in tails:
            line = _line(columns, row, widths, shown[:-1]) + _GAP + tails[number]
        if bars and number in bars and room >= _LEAST_BAR:
            line += " " * (used - width_of(line))
            line += bar(bars[number], max(bars.values()), room)
        lines.append(line)
    return "\n".join(lines)


def _bounded(cell: str, column: Column, width: int | None) -> str:
    """A cell no longer than can be shown: what follows reads it several times."""
    if column.gives_way is None or (width is None and column.is_whole):
        return clean(cell)
    room = max(width or _MOST, _LEAST)
    cell = clean(readable(cell, room, column.gives_way))
    return shorten(cell, room, column.gives_way)


def is_bold() -> bool:
    """Whether stdout is a terminal that knows bold, and whose user does not mind."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def _fit(columns: Sequence[Column], widths: list[int], width: int | None) -> list[int]:
    """The places of the columns that are shown; `widths` shrink where they can."""
    shown = list(range(len(columns)))
    if width is None:
        for place, column in enumerate(columns):
            if column.gives_way and not column.is_whole:
                widths[place] = min(widths[place], _MOST)
    while width is not None:
        over = sum(widths[place] for place in shown) + len(_GAP) * (len(shown) - 1)
        over -= width
        flexible = [place for place in shown if columns[place].gives_way]
        spare = sum(max(0, widths[place] - _LEAST) for place in flexible)
        optional = [place for place in shown if columns[place].dropped]
        if over <= spare or not optional:
            _shrink(widths, flexible, over)
            break
        shown.remove(max(optional, key=lambda place: columns[place].dropped))
    return shown


def _shrink(widths: list[int], flexible: list[int], over: int) -> None:
    """Take from the widest, one by one, until it fits or none can give more."""
    while over > 0 and flexible:
        widest = max(flexible, key=lambda place: widths[place])
        if widths[widest] <= _LEAST:
            break
        widths[widest] -= 1
        over -= 1


def _line(
    columns: Sequence[Column],
    row: Sequence[str],
    widths: Sequence[int],
    shown: Sequence[int],
) -> str:
    parts = []
    for place in shown:
        column, room = columns[place], widths[place]
        text = shorten(row[place], room, column.gives_way or "end")
        pad = " " * (room - width_of(text))
        parts.append(pad + text if column.right else text + pad)
    return _GAP.join(parts).rstrip()


def count(number: int | None) -> str:
    """1,234,567, or - for unknown."""
    return "-" if number is None else f"{number:,}"


def counted(number: int, noun: str) -> str:
    """1 stream, 1,234 streams, or no streams."""
    many = f"{number:,}" if number else "no"
    return f"{many} {noun}{'' if number == 1 else 's'}"


def first(shown: int, of: int | None = None) -> str:
    """The first row of 17, or the first 1,234 rows where nobody counted them all."""
    rows = "row" if shown == 1 else f"{shown:,} rows"
    return f"the first {rows}" + ("" if of is None else f" of {of:,}")


def usd(
    cost: Decimal | None,
    upto: Decimal | None = None,
    *,
    partly: bool = False,
    reported: bool = False,
) -> str:
    """$1,234.56, small sums to four digits, a range where the sum is not known.

    `partly` marks a sum from which something unknown is missing, `reported` one in
    which the agent's own figure stands for what has no price.
    """
    if cost is None:
        return "-"
    digits = 2 if cost >= 1 or not cost else _SMALL_DIGITS
    low, high = (f"{it:,.{digits}f}" for it in (cost, cost if upto is None else upto))
    text = f"{'>=' if partly else ''}${low}{f'-{high}' if high != low else ''}"
    return text + ("*" if reported else "")


def usd_column(cells: Sequence[str]) -> list[str]:
    """Cells of `usd` with their points one below the other.

    A sum of dollars gets blanks for the digits that only small sums have.
    """
    most = max((_decimals(cell) for cell in cells), default=0)
    return [cell + " " * (most - _decimals(cell)) if cell else cell for cell in cells]


def _decimals(cell: str) -> int:
    return len(cell.partition(".")[2])


def bar(part: Decimal, of: Decimal, room: int) -> str:
    """A bar as long as the part of a whole, to an eighth of a character."""
    eighths = round(part / of * room * 8) if of else 0
    full, rest = divmod(max(eighths, 1 if part else 0), 8)
    return "█" * full + (_EIGHTHS[rest - 1] if rest else "")


def size(number: int) -> str:
    """Bytes as 412 MB."""
    if number < _THOUSAND:
        return f"{number} B"
    amount, unit = number / _THOUSAND, "kB"
    for larger in ("MB", "GB"):
        if amount >= _THOUSAND:
            amount, unit = amount / _THOUSAND, larger
    return f"{amount:,.1f} {unit}"


def duration(ms: int | None) -> str:
    """Milliseconds as 350ms, 4.2s, 3m 20s or 5h 07m."""
    if ms is None:
        return "-"
    if ms < _THOUSAND:
        return f"{ms}ms"
    if ms < _MINUTE_MS:
        return f"{ms / _THOUSAND:.1f}s"
    minutes, seconds = divmod(ms // _THOUSAND, 60)
    hours, rest = divmod(minutes, 60)
    return f"{hours:,}h {rest:02}m" if hours else f"{minutes}m {seconds:02}s"
