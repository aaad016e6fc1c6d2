"""Texts of every script in a table: as wide as it says, and never read twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlake.pipelines.cli.table import Column, render
from agentlake.pipelines.cli.width import readable, shorten, width

LONG = {
    "latin": "é" * 3_000_000,
    "han": "字" * 3_000_000,
    "arabic": "مرحبا " * 500_000,
    "family emoji": "👩\u200d👩\u200d👧" * 600_000,
    "letters with marks": "e\u0301" * 1_500_000,
    "marks alone": "\u0301" * 3_000_000,
    "escapes and tabs": "a\tb\x1b[31mred\x1b[0m\r\n" * 150_000,
    "ascii": "x" * 3_000_000,
}


@pytest.mark.parametrize("columns", [80, 200, None])
@pytest.mark.parametrize("name", LONG)
def test_megabytes_in_a_cell_are_cut_to_the_terminal(name, columns):
    # Two hundred megabytes and more: only what reads a cell once, or less, comes back.
    rows = [[LONG[name], LONG[name]]] * 40
    table = render(
        [Column(title="a", gives_way="end"), Column(title="b", gives_way="start")],
        rows,
        width=columns,
    )
    lines = table.split("\n")
    assert len(lines) == 41
    assert max(map(width, lines)) <= (columns or 122)
    assert not set(table) & set("\x1b\t\r")


@given(
    st.text(max_size=60),
    st.integers(min_value=1, max_value=40),
    st.sampled_from(["end", "start"]),
)
def test_a_shortened_text_fits_and_is_whole_where_it_can_be(text, room, gives_way):
    short = shorten(text, room, gives_way)
    assert width(short) <= room
    if width(text) <= room:
        assert short == text
    elif gives_way == "end":
        assert short.endswith("…")
        assert text.startswith(short[:-1])
    else:
        assert short.startswith("…")
        assert text.endswith(short[1:])


@given(
    st.text(), st.integers(min_value=1, max_value=9), st.sampled_from(["end", "start"])
)
def test_what_is_not_read_does_not_change_what_is_shown(text, room, gives_way):
    text *= 50
    read = readable(text, room, gives_way)
    assert shorten(read, room, gives_way) == shorten(text, room, gives_way)


def test_a_mark_stays_on_its_letter():
    assert shorten("e\u0301e\u0301e\u0301", 2, "end") == "e\u0301…"
    assert width("e\u0301👩\u200d👧") == 5
