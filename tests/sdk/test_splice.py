"""Lines that several records share: what is whole counts, and nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlake.adapters.sdk.splice import spans

WHOLE = {"type": "b", "at": 2, "of": {"x": [1]}}
NAMES = st.text("abcdef", min_size=1, max_size=4)
VALUES = st.recursive(
    st.none() | st.integers() | st.text('ab{}"[]:,\\ é', max_size=8),
    lambda some: st.lists(some, max_size=3) | st.dictionaries(NAMES, some, max_size=3),
    max_leaves=8,
)
RECORDS = st.dictionaries(NAMES, VALUES, min_size=1, max_size=5)


def written(record):
    return json.dumps(record, ensure_ascii=False).encode()


def whole(line):
    return [json.loads(one.data) for one in spans(line) if one.is_whole]


@given(st.lists(RECORDS, min_size=1, max_size=4), st.sampled_from([b"", b" ", b"\0"]))
def test_whole_records_on_one_line_are_all_found(records, between):
    line = between.join(map(written, records))
    assert whole(line) == records
    assert all(line[one.start :].startswith(one.data) for one in spans(line))


@given(RECORDS, st.data())
def test_a_cut_record_alone_gives_nothing_that_looks_like_a_record(record, data):
    """Unless what it holds begins as it does itself; then nobody can tell."""
    line = written(record)
    cut = data.draw(st.integers(1, len(line) - 1))
    first = next(iter(record))
    assert not [one for one in whole(line[:cut]) if next(iter(one), None) != first]


@pytest.mark.parametrize(
    "cut",
    [
        b"{",
        b'{"',
        b'{"ty',
        b'{"type"',
        b'{"type":',
        b'{"type": "a", "n": 1',
        b'{"type": "a", "n": -',
        b'{"type": "a", "n": tr',
        b'{"type": "a", "text": "so',
        b'{"type": "a", "text": "so\\',
        b'{"type": "a", "text": "so\\u00',
        b'{"type": "a", "text": "brackets } ] { [',
        b'{"type": "a", "of": {"x": {"y": 1}',
        b'{"type": "a", "of": {"x": {"y": 1}}',
        b'{"type": "a", "list": [',
        b'{"type": "a", "list": [{"x": 1},',
        b'{"type": "a", "of": {',
        b'{"type": "a", "holes": "\0\0\0\0',
        b'{"type": "a", "text": "caf\xc3',
    ],
)
def test_a_whole_record_is_found_after_any_cut(cut):
    line = cut + written(WHOLE)
    assert whole(line) == [WHOLE]
    assert b"".join(one.data for one in spans(line)) == line


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"nonsense",
        b"[1, 2]",
        b'{"type": "a", "message": {"id": "m", "usage": {"out": 5}}',
        b'{"type": "a", "content": [{"type": "text", "text": "x"}',
        b'{"a": #, "of": {"type": "b", "at": 1}, "n": 2}',
        b"[" * 100_000,
    ],
)
def test_what_is_inside_a_damaged_record_is_none(line):
    assert whole(line) == []


def test_a_record_and_what_follows_it():
    assert spans(b'\xef\xbb\xbf{"a": 1}xyz') == [
        (3, b'{"a": 1}', True),
        (11, b"xyz", False),
    ]
