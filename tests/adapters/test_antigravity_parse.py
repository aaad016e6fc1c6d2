"""Antigravity's databases as they grow, and damage that golden cases do not show."""

import base64
import json
import sqlite3

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import CASES, plans

from agentlake.adapters import antigravity
from agentlake.adapters.sdk.conformance import everything, streams_of
from agentlake.adapters.sdk.contract import Record, Stream
from agentlake.adapters.sdk.run import facts_of
from agentlake.models.usage import Usage

DATABASE = ".gemini/antigravity-ide/conversations/a0.db"


def varint(number):
    data = b""
    while number > 0x7F:
        data += bytes([number & 0x7F | 0x80])
        number >>= 7
    return data + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def generation(response="r1", second=0, **counts):
    numbers = {"model": 1, "input": 2, "output": 3, "read": 5, "said": 9, "thought": 10}
    used = b"".join(field(numbers[name], count) for name, count in counts.items())
    used += field(11, response) if response else b""
    time = field(4, field(1, 1_790_000_000 + second))
    return field(1, field(4, used) + field(9, time) + field(19, "gemini-3-pro"))


@pytest.fixture
def database(lake):
    path = lake.home / DATABASE
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path)
    connection.execute("pragma journal_mode = wal")
    connection.executescript("""
    create table steps (idx integer primary key, step_type integer, status integer,
        metadata blob, step_payload blob);
    create table gen_metadata (idx integer primary key, data blob, size integer);
    create table trajectory_metadata_blob (id text primary key, data blob);
    """)
    yield connection
    connection.close()


def write(database, idx, **more):
    database.execute(
        "insert or replace into gen_metadata values (?, ?, 0)",
        [idx, generation(**more)],
    )
    database.commit()


def test_calls_are_found_while_antigravity_runs_and_each_counts_once(lake, database):
    used = "select usage_id, input_tokens, output_tokens from core.usage order by all"
    write(database, 0, response="r1", input=100, output=1)
    lake.load()
    write(database, 0, response="r1", input=100, output=9)
    write(database, 1, response="r2", input=20, output=2, second=5)
    lake.load()
    assert lake.rows(used) == [("r1", 100, 9), ("r2", 20, 2)]
    assert not lake.load().wrote
    database.execute("delete from gen_metadata where idx = 1")
    database.commit()
    lake.load()
    assert lake.rows(used) == [("r1", 100, 9), ("r2", 20, 2)]


def test_an_answer_that_is_still_written_stays_one_message(lake, database):
    for status, text in ((2, "Loo"), (3, "Looking.")):
        database.execute(
            "insert or replace into steps values (1, 15, ?, null, ?)",
            [status, field(20, field(1, text))],
        )
        database.commit()
        lake.load()
    assert lake.rows("select message_id, text from core.messages") == [
        ("a0/1", "Looking.")
    ]


def parsed(key, row):
    path = f"/home/ada/{DATABASE}"
    stream = Stream(path=path, key="a0", reader="sqlite")
    return facts_of(antigravity, Record(stream, 1, 0, key, json.dumps(row).encode()))


def blob(data):
    return {"$blob": base64.b64encode(data).decode()}


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"model": 1132}, None),
        ({"model": 1132, "input": 5}, (5, 0, 0, None)),
        ({"read": 7, "output": 4, "thought": 3}, (0, 7, 4, 3)),
        ({"output": 10, "said": 6, "thought": 4}, (0, 0, 10, 4)),
        ({"said": 6, "thought": 4}, (0, 0, 10, 4)),
        ({"output": 0, "said": 6}, None),
    ],
)
def test_what_a_call_used(counts, expected):
    facts, rejects = parsed(
        "gen_metadata/0", {"idx": 0, "data": blob(generation(**counts))}
    )
    assert rejects == []
    found = [
        (
            one.input_tokens,
            one.cache_read_tokens,
            one.output_tokens,
            one.reasoning_tokens,
        )
        for one in facts
        if isinstance(one, Usage)
    ]
    assert found == ([expected] if expected else [])


def test_a_call_without_a_response_is_known_by_its_place():
    facts, _ = parsed(
        "gen_metadata/4", {"idx": 4, "data": blob(generation(None, input=1))}
    )
    assert [one.usage_key for one in facts] == ["a0/4"]


def golden_blobs():
    for case in CASES:
        for plan in plans(case.home) if case.source == "antigravity" else ():
            for root in plan.roots:
                found = everything(plan.adapter, streams_of(plan.adapter, root))
                for record, facts, _ in found:
                    if facts and record.stream.reader == "sqlite":
                        row = json.loads(record.data)
                        blobs = [name for name in row if isinstance(row[name], dict)]
                        yield from ((record.key, row, name) for name in blobs)


BLOBS = list(golden_blobs())


@given(st.data())
def test_damaged_bytes_never_give_an_odd_fact(data):
    key, row, name = data.draw(st.sampled_from(BLOBS))
    whole = bytearray(base64.b64decode(row[name]["$blob"]))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] = data.draw(st.integers(0, 255))
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    facts, _ = parsed(key, row | {name: blob(bytes(cut))})
    for fact in facts:
        values = {it: getattr(fact, it) for it in fact.__struct_fields__}
        assert msgspec.convert(values, type(fact), strict=True) == fact
