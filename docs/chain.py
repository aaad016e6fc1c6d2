"""The chain of the SQL models as one picture: what each is made from, by theme.

    make pages        draws it again; a test fails while it is not current

A lane is a folder of `sql/`, a column how many steps a model is away from staging. What
a model reaches through another one is not drawn again.
"""

import sys
from collections import defaultdict
from graphlib import TopologicalSorter
from html import escape
from pathlib import Path

from agentlake.pipelines.transform.sql_models import MADE_FROM, SQL, Model, models

LANES = (
    "core/replays",
    "core/messages",
    "core/tools",
    "core/sessions",
    "core/usage/by_message",
    "core/usage/by_total",
    "core/usage/by_run_segment",
    "core/usage",
    "marts",
)
PICTURE = Path(__file__).parent / "pictures" / "models.svg"
_TINTS = [
    "#e8f0fa",
    "#fdf0e3",
    "#e9f6ec",
    "#f3ecf9",
    "#fbeaea",
    "#fdf8df",
    "#e6f5f6",
    "#f0f0f0",
    "#ffffff",
]
_WIDE, _HIGH = 134, 22
_GAP, _ROW = 30, 30
_LEFT, _TOP = 16, 46

Point = tuple[int, int]
"""The left upper corner of a box."""


def picture() -> str:
    """The SVG."""
    reads = _nearest()
    depths = _depths(reads)
    lanes, places = _placed(reads, depths)
    right = _LEFT + (max(depths.values()) + 1) * (_WIDE + _GAP)
    bottom = lanes[-1][1] + lanes[-1][2] + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right} {bottom}"'
        ' font-family="sans-serif" font-size="11">',
        "<title>The chain of the SQL models</title>",
        f'<rect width="{right}" height="{bottom}" fill="#ffffff"/>',
        _text(_LEFT, 20, "Each model, left to right from staging.", size=14),
        _text(
            _LEFT,
            36,
            "Bold frame: a table; thin: a view. Lanes are the folders of sql/.",
            fill="#555555",
        ),
    ]
    for (lane, top, height), tint in zip(lanes, _TINTS, strict=True):
        parts.append(
            f'<rect x="4" y="{top}" width="{right - 8}" height="{height}" rx="6"'
            f' fill="{tint}" stroke="#cccccc"/>'
        )
        parts.append(_text(_LEFT, top + 14, lane, fill="#777777"))
    parts += [
        _line(places[read], places[name]) for name in places for read in reads[name]
    ]
    parts += [_box(models()[name], place) for name, place in places.items()]
    return "\n".join([*parts, "</svg>", ""])


def lane_of(model: Model) -> str:
    """The folder of a model's file, below `sql`."""
    return Path(model.path).parent.relative_to(SQL).as_posix()


def _nearest() -> dict[str, list[str]]:
    """What each model reads, without what it reaches through another one."""
    direct = {
        name: {
            other
            for table in model.reads
            if (other := MADE_FROM.get(table, table)) in models()
        }
        for name, model in models().items()
    }
    beyond: dict[str, set[str]] = {}
    for name in TopologicalSorter(direct).static_order():
        beyond[name] = set().union(*(beyond[it] | {it} for it in direct[name]))
    return {
        name: sorted(reads - set().union(*(beyond[it] for it in reads)))
        for name, reads in direct.items()
    }


def _depths(reads: dict[str, list[str]]) -> dict[str, int]:
    depths: dict[str, int] = {}
    for name in TopologicalSorter(reads).static_order():
        depths[name] = max((depths[it] + 1 for it in reads[name]), default=0)
    return depths


def _placed(
    reads: dict[str, list[str]], depths: dict[str, int]
) -> tuple[list[tuple[str, int, int]], dict[str, Point]]:
    """Each lane with its top and height, and the place of each model."""
    cells: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for name in sorted(depths, key=lambda it: (depths[it], it)):
        cells[lane_of(models()[name]), depths[name]].append(name)
    lanes: list[tuple[str, int, int]] = []
    places: dict[str, Point] = {}
    top = _TOP
    for lane in LANES:
        columns = {depth: names for (at, depth), names in cells.items() if at == lane}
        for depth, names in sorted(columns.items()):
            names.sort(key=lambda it: (_height(it, reads, places), it))
            for row, name in enumerate(names):
                left = _LEFT + depth * (_WIDE + _GAP)
                places[name] = (left, top + 20 + row * _ROW)
        height = 20 + max(map(len, columns.values())) * _ROW
        lanes.append((lane, top, height))
        top += height + 6
    return lanes, places


def _height(name: str, reads: dict[str, list[str]], places: dict[str, Point]) -> float:
    """How high on average stands what it reads: near it, lines cross less."""
    known = [places[it][1] for it in reads[name] if it in places]
    return sum(known) / len(known) if known else 0.0


def _box(model: Model, place: Point) -> str:
    left, top = place
    name = model.name.partition(".")[2]
    is_step = name.startswith("_")
    return (
        f'<rect x="{left}" y="{top}" width="{_WIDE}" height="{_HIGH}" rx="4"'
        f' fill="{"#fafafa" if is_step else "#ffffff"}" stroke="#334455"'
        f' stroke-width="{1 if model.is_view else 2.5}"/>'
        + _text(left + 6, top + 15, name, fill="#556677" if is_step else "#000000")
    )


def _line(start: Point, end: Point) -> str:
    x1, y1 = start[0] + _WIDE, start[1] + _HIGH // 2
    x2, y2 = end[0], end[1] + _HIGH // 2
    bend = _GAP // 2 + 6
    return (
        f'<path d="M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"'
        ' fill="none" stroke="#8899aa" stroke-opacity="0.7"/>'
    )


def _text(x: int, y: int, text: str, *, fill: str = "#000000", size: int = 11) -> str:
    return (
        f'<text x="{x}" y="{y}" fill="{fill}" font-size="{size}">{escape(text)}</text>'
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    print("docs/pictures/models.svg", file=sys.stderr)
