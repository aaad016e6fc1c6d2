"""Cursor's databases as they grow, and what golden cases do not show of its rows."""

import hashlib
import json
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlake.adapters import cursor
from agentlake.adapters.sdk.contract import Record, Stream
from agentlake.adapters.sdk.run import facts_of
from agentlake.models.message import Message
from agentlake.models.tool_result import ToolResult
from agentlake.models.usage import Usage

EDITOR = ".config/Cursor/User/globalStorage/state.vscdb"
STORE = ".cursor/chats/0f/a0/store.db"
SAID = "select text, is_gone from core.messages order by seq"


def database(lake, name, script):
    path = lake.home / name
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path)
    connection.execute("pragma journal_mode = wal")
    connection.executescript(script)
    return connection


@pytest.fixture
def editor(lake):
    script = (
        "create table cursorDiskKV (key text unique on conflict replace, value blob)"
    )
    connection = database(lake, EDITOR, script)
    yield connection
    connection.close()


@pytest.fixture
def store(lake):
    script = """
    create table blobs (id text primary key, data blob);
    create table meta (key text primary key, value text);
    """
    connection = database(lake, STORE, script)
    yield connection
    connection.close()


def write(editor, bubble, second, **more):
    value = {
        "type": 2,
        "createdAt": f"2026-09-21T10:00:{second:02}Z",
        "text": bubble,
        "requestId": "r1",
    }
    editor.execute(
        "insert into cursorDiskKV values (?, ?)",
        [f"bubbleId:c1:{bubble}", json.dumps(value | more)],
    )
    editor.commit()


def turn(store, *texts):
    """A new root with these messages, written as the command line does it."""
    root = b""
    for text in texts:
        data = json.dumps({"id": "1", "role": "user", "content": text}).encode()
        root += b"\x0a\x20" + blob(store, data)
    meta = {"agentId": "a0", "latestRootBlobId": blob(store, root).hex()}
    value = json.dumps(meta).encode().hex()
    store.execute("insert or replace into meta values ('0', ?)", [value])
    store.commit()


def blob(store, data):
    name = hashlib.sha256(data).digest()
    store.execute("insert or replace into blobs values (?, ?)", [name.hex(), data])
    return name


def test_a_message_that_is_written_again_while_cursor_runs_stays_one(lake, editor):
    write(editor, "b1", 1, tokenCount={"inputTokens": 100, "outputTokens": 3})
    write(editor, "b2", 2)
    lake.load()
    write(
        editor, "b1", 1, text="done", tokenCount={"inputTokens": 100, "outputTokens": 9}
    )
    write(editor, "b3", 3)
    lake.load()
    assert lake.rows(SAID) == [("done", False), ("b2", False), ("b3", False)]
    usage = "select input_tokens, output_tokens from core.usage"
    assert lake.rows(usage) == [(100, 9)]
    lake.load()
    assert lake.rows(usage) == [(100, 9)]


def test_a_database_that_was_restored_from_its_backup_is_read_again(lake, editor):
    for second in range(5):
        write(editor, f"b{second}", second)
    lake.load()
    editor.execute("delete from cursorDiskKV")
    write(editor, "b0", 0)
    write(editor, "new", 9)
    lake.load()
    assert ("new", False) in lake.rows(SAID)
    assert lake.one("select count(*) from core.messages") == 6


def test_the_command_line_goes_on_and_back_while_it_runs(lake, store):
    turn(store, "one", "two")
    lake.load()
    turn(store, "one", "two", "three", "two")
    lake.load()
    words = ("one", "two", "three", "two")
    assert lake.rows(SAID) == [(word, False) for word in words]
    assert not lake.load().wrote
    turn(store, "one", "four")
    lake.load()
    assert set(lake.rows(SAID)) == {
        ("one", False),
        ("two", True),
        ("three", True),
        ("four", False),
    }


def test_a_session_without_root_has_not_begun_and_a_lost_root_waits(lake, store):
    report = lake.load().sources["cursor"]
    assert (report.records, report.deferred) == (0, [])
    meta = json.dumps({"latestRootBlobId": "ff"}).encode().hex()
    store.execute("insert into meta values ('0', ?)", [meta])
    store.commit()
    ((_, reason),) = lake.load().sources["cursor"].deferred
    assert reason == "the root ff is not among the blobs"


def parsed(key, row, path=f"/home/ada/{EDITOR}", reader="sqlite"):
    stream = Stream(path=path, key=path, reader=reader)
    return facts_of(cursor, Record(stream, 1, 0, key, json.dumps(row).encode()))


def bubble(value, key="bubbleId:c1:b1"):
    row = {"key": key, "value": json.dumps(value)}
    return parsed(f"cursorDiskKV/{key}", row)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ({"inputTokens": 0, "outputTokens": 0}, []),
        ({}, []),
        (None, []),
        ({"inputTokens": 5}, [(5, None)]),
        ({"inputTokens": 0, "outputTokens": 7}, [(0, 7)]),
    ],
)
def test_only_tokens_that_were_counted_are_usage(tokens, expected):
    facts, _ = bubble({"type": 2, "tokenCount": tokens})
    found = [
        (one.input_tokens, one.output_tokens) for one in facts if isinstance(one, Usage)
    ]
    assert found == expected


@pytest.mark.parametrize(
    ("status", "result", "expected"),
    [
        ("completed", "{}", ("{}", False)),
        ("completed", None, (None, False)),
        ("error", None, (None, True)),
        ("running", None, None),
        ("cancelled", "", None),
    ],
)
def test_a_call_that_did_not_end_has_no_result(status, result, expected):
    tool = {"name": "ls", "toolCallId": "t1", "status": status, "result": result}
    facts, _ = bubble({"type": 2, "toolFormerData": tool})
    found = [(one.text, one.is_error) for one in facts if isinstance(one, ToolResult)]
    assert found == ([expected] if expected else [])


def test_the_chat_of_a_message_is_all_of_the_key_before_its_id():
    facts, _ = bubble({"type": 1, "text": "hi"}, key="bubbleId:task-call_1\nfc_1:b1")
    (message,) = (one for one in facts if isinstance(one, Message))
    assert (message.session_id, message.message_id) == ("task-call_1\nfc_1", "b1")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
FIELDS = st.sampled_from(
    [
        "type",
        "text",
        "createdAt",
        "requestId",
        "modelInfo",
        "thinking",
        "workspaceUris",
        "toolFormerData",
    ]
)


@given(FIELDS, VALUES)
def test_an_odd_value_never_costs_a_message_its_usage(field, value):
    row = {"type": 2, "tokenCount": {"inputTokens": 7, "outputTokens": 1}, field: value}
    facts, _ = bubble(row)
    (usage,) = (one for one in facts if isinstance(one, Usage))
    assert (usage.input_tokens, usage.output_tokens) == (7, 1)
