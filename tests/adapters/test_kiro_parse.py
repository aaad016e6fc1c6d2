"""Kiro: what trimming, clearing and moving leave of a conversation, rule by rule."""

import json
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlake.adapters import kiro
from agentlake.adapters.kiro import database
from agentlake.adapters.sdk.contract import Keyed, Record, Stream
from agentlake.adapters.sdk.decode import encode
from agentlake.adapters.sdk.run import facts_of
from agentlake.models.tool_result import ToolResult

DATABASE = "/home/ada/.local/share/amazon-q/data.sqlite3"


def entry(name, minute, **metadata):
    return {
        "user": {
            "content": {"Prompt": {"prompt": f"say {name}"}},
            "timestamp": f"2026-10-01T10:{minute:02}:00Z",
        },
        "assistant": {"Response": {"message_id": name, "content": name}},
        "request_metadata": metadata or None,
    }


def conversation(*entries, id="c1", summary=None):
    return json.dumps(
        {"conversation_id": id, "history": entries, "latest_summary": summary}
    )


@pytest.mark.slow
def test_what_is_trimmed_summed_up_or_overwritten_stays(lake):
    path = lake.home / ".local/share/amazon-q/data.sqlite3"
    path.parent.mkdir(parents=True)
    agent = sqlite3.connect(path)
    agent.execute("create table conversations (key text primary key, value text)")
    said = [entry(name, at) for at, name in enumerate("abcd")]

    def saves(value):
        agent.execute(
            "insert or replace into conversations values ('/shop', ?)", [value]
        )
        agent.commit()
        lake.load()
        return lake.rows(
            "select session_id, text, is_gone from core.messages "
            "where role = 'assistant' order by session_id, seq"
        )

    rows = [("c1", name, False) for name in "abcd"]
    assert saves(conversation(*said[:2])) == rows[:2]
    assert saves(conversation(*said[1:3])) == rows[:3]
    assert saves(conversation(*said[3:], summary="a to c")) == rows
    other = saves(conversation(entry("z", 9), id="c2"))
    agent.execute("delete from conversations")
    agent.commit()
    lake.load()
    agent.close()
    assert other == [*rows, ("c2", "z", False)]
    assert lake.one("select count(*) from core.messages where is_gone") == 0
    assert lake.rows("select session_id from core.compactions") == [("c1",)]


def test_an_entry_keeps_its_key_wherever_it_stands():
    one, two = entry("a", 1), entry("b", 2)
    del two["assistant"]  # it has no id: what it says names it

    def keys(*entries):
        row = encode({"key": "/shop", "value": conversation(*entries)})
        parts = database.parts(Keyed("conversations//shop", row))
        return [part.key for part in parts if "/entry/" in part.key]

    assert keys(two, one) == keys(one, two)[::-1]
    assert keys(two) == keys(one, two)[1:]


@pytest.mark.parametrize(
    ("status", "is_error"), [("Success", False), ("Error", True), (None, None)]
)
def test_a_status_says_whether_a_tool_failed(status, is_error):
    said = {"tool_use_id": "t", "content": [{"Text": "x"}], "status": status}
    answered = entry("a", 1)
    answered["user"]["content"] = {"ToolUseResults": {"tool_use_results": [said]}}
    (result,) = [one for one in facts(answered) if isinstance(one, ToolResult)]
    assert (result.text, result.is_error) == ("x", is_error)


def facts(*entries):
    row = encode({"key": "/shop", "value": conversation(*entries)})
    found = []
    for part in database.parts(Keyed("conversations//shop", row)):
        record = Record(Stream(path=DATABASE, key=DATABASE), 0, 0, part.key, part.data)
        found += facts_of(kiro, record)[0]
    return found


def test_tables_with_secrets_are_no_tables():
    stream = Stream(path=DATABASE, key=DATABASE, reader="sqlite")
    names = {table.name for table in kiro.tables(stream)}
    assert names == {"conversations", "conversations_v2"}


@given(st.binary() | st.text().map(lambda text: encode({"value": text})))
def test_a_damaged_row_is_named_and_stops_nothing(data):
    for part in database.parts(Keyed("conversations//shop", data)):
        record = Record(Stream(path=DATABASE, key=DATABASE), 0, 0, part.key, part.data)
        facts_of(kiro, record)
