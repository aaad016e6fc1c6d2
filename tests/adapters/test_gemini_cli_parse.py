"""Gemini CLI, what golden cases do not show: names of files, and any damage."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlake.adapters import gemini_cli
from agentlake.adapters.sdk.contract import Record, Stream
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.sdk.run import facts_of
from agentlake.models.usage import Usage

LOG = Stream(path="/x/chats/session-1-abc.jsonl", key="k", reader="own")
DOCUMENT = Stream(path="/x/chats/session-1-abc.json", key="k", reader="own")
HEAD = {"sessionId": "s1", "projectHash": "p", "kind": "main"}


def read(stream, data):
    """The facts and rejects of a whole file."""
    found, rejects = [], []
    for one in gemini_cli.explode(stream.path, data, None):
        record = Record(stream, one.seq, 0, one.key, one.data)
        facts, bad = facts_of(gemini_cli, record)
        found += facts
        rejects += bad
    return found, rejects


def log(*lines):
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def reply(name, tokens, **more):
    return {"id": name, "type": "gemini", "content": "x", "tokens": tokens, **more}


def bills(found):
    return [one.output_tokens for one in found if isinstance(one, Usage)]


def test_a_chat_is_known_by_its_name_whatever_its_project_is_called(tmp_path):
    places = (
        "a1/chats/session-1-aa.jsonl",
        "a1/chats/session-1-aa.json",
        "a1/chats/parent/child.jsonl",
        "a1/chats/parent/older.json",
        "a1/logs.json",
        "shop/chats/session-1-aa.jsonl",
        "a1/chats/notes.jsonl",
        "a1/chats/session-1-aa.jsonl.unreadable-1",
        "a1/checkpoints/session-1-aa.json",
        "bin/rg",
    )
    for place in places:
        file = tmp_path / "tmp" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    top = f"{tmp_path}/tmp/"
    keys = [one.key.replace(top, "") for one in gemini_cli.discover(str(tmp_path), {})]
    assert keys == [
        "parent/child.jsonl",
        "parent/older.json",
        "session-1-aa.json",
        "session-1-aa.jsonl",
        "a1/logs.json",
        "session-1-aa.jsonl@shop/chats/session-1-aa.jsonl",
    ]


def test_a_message_keeps_its_place_when_it_is_written_again():
    lines = log(HEAD, reply("m1", None), reply("m2", None), reply("m1", {"output": 1}))
    places = {one.key: one.seq for one in gemini_cli.explode(LOG.path, lines, None)}
    assert places == {
        "s1/session": 0,
        "s1/messages/m1": 1,
        "s1/messages/m2": 2,
        "s1/tokens/m1": 3,
    }


def test_the_last_line_counts_when_it_is_whole():
    lines = (
        log(HEAD, reply("m1", {"output": 1}))
        + json.dumps(reply("m2", {"output": 2})).encode()
    )
    assert bills(read(LOG, lines)[0]) == [1, 2]
    assert read(LOG, lines[:-1]) == read(LOG, log(HEAD, reply("m1", {"output": 1})))


def test_a_half_written_document_waits():
    with pytest.raises(Unreadable):
        read(DOCUMENT, b'{"sessionId": "s1", "messages": [{"id')


def test_a_patch_of_what_is_not_there_makes_no_message_of_its_own_type():
    patch = {"$patch": {"id": "m9", "toolCalls": [{"id": "t1", "status": "success"}]}}
    found, rejects = read(LOG, log(HEAD, patch))
    assert [one.reason for one in rejects] == ["a message without type"]
    assert len(found) == 1


@given(st.binary(max_size=80).filter(lambda it: b"\n" not in it))
def test_a_damaged_line_costs_itself_and_no_other(damage):
    before = log(HEAD, reply("m1", {"output": 1}))
    after = log(reply("m2", {"output": 2}))
    found, _ = read(LOG, before + damage + b"\n" + after)
    assert bills(found)[:1] + bills(found)[-1:] == [1, 2]


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_odd_fields_never_stop_a_document(odd):
    messages = [reply("m1", {"output": 1}), reply("m2", odd), odd]
    said = json.dumps(HEAD | {"summary": odd, "messages": messages}).encode()
    assert 1 in bills(read(DOCUMENT, said)[0])
