"""Amp, Copilot CLI, Cline and Copilot in VS Code: damage, and what no home shows."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import CASES, plans

from agentlake.adapters import amp, cline_family, copilot_cli, vscode_copilot
from agentlake.adapters.copilot_cli import export, stores
from agentlake.adapters.sdk.conformance import records_of, streams_of
from agentlake.adapters.sdk.contract import Record, Reject, Stream
from agentlake.adapters.sdk.decode import Unreadable, encode
from agentlake.adapters.sdk.run import facts_of
from agentlake.adapters.vscode_copilot.changes import Replay

ADAPTERS = {
    adapter.SOURCE: adapter
    for adapter in (amp, cline_family, copilot_cli, vscode_copilot)
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)


def _records():
    for case in CASES:
        if case.source in ADAPTERS:
            for plan in plans(case.home):
                for root in plan.roots if plan.adapter.SOURCE in ADAPTERS else ():
                    for stream in streams_of(plan.adapter, root):
                        for record in records_of(stream=stream, adapter=plan.adapter):
                            yield plan.adapter, record


def _json(record):
    try:
        return json.loads(record.data)
    except ValueError:
        return None


RECORDS = [
    (adapter, record)
    for adapter, record in _records()
    if isinstance(_json(record), dict)
]


def _damaged(draw, value, anything):
    """The value with one thing in it replaced."""
    steps = []
    at = value
    while isinstance(at, dict | list) and at:
        step = draw(
            st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at)))
        )
        steps.append((at, step))
        at = at[step]
    holder, step = draw(st.sampled_from(steps))
    holder[step] = anything
    return value


@given(st.data(), st.sampled_from(RECORDS), ANYTHING)
def test_a_damaged_record_is_facts_or_rejects_and_never_a_crash(data, one, anything):
    adapter, whole = one
    damaged = _damaged(data.draw, json.loads(whole.data), anything)
    raw = json.dumps(damaged).encode()
    record = Record(whole.stream, whole.seq, 0, whole.key, raw)
    _, rejects = facts_of(adapter, record)
    assert not [one for one in rejects if "in parse:" in one.reason]


def _usage(adapter, key, data, path="/r/x", **stream):
    of = Stream(path=path, key="s", **stream)
    found, rejects = facts_of(adapter, Record(of, 0, 0, key, encode(data)))
    assert rejects == []
    return [fact for fact in found if type(fact).__name__ == "Usage"]


def _line(value):
    stream = Stream(path="/r/otel/x.jsonl", key="/r/otel/x.jsonl")
    return Record(stream, 0, 0, "k", encode(value))


ROLES = {
    "chat": 34,
    "invoke_agent": 31,
    "execute_tool": None,
}


@pytest.mark.parametrize(("operation", "precedence"), ROLES.items())
def test_a_line_of_the_export_has_the_precedence_of_its_level(operation, precedence):
    attributes = {
        "gen_ai.operation.name": operation,
        "gen_ai.request.model": "gpt-5.1",
        "gen_ai.conversation.id": "c",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.cache_read_input_tokens": 40,
        "gen_ai.usage.output_tokens": 7,
    }
    line = {"type": "span", "attributes": attributes, "endTime": [1788948000, 5e8]}
    found = list(export.exported(_line(line)))
    if precedence is None:
        assert found == []
        return
    (call,) = found
    assert (call.precedence, call.input_tokens, call.cache_read_tokens) == (
        precedence,
        60,
        40,
    )
    assert call.called_at == datetime(2026, 9, 9, 10, 0, 0, 500000, tzinfo=UTC)


@pytest.mark.parametrize("left_out", ["gen_ai.request.model", "gen_ai.conversation.id"])
def test_tokens_that_belong_to_nothing_are_a_reject(left_out):
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-5.1",
        "gen_ai.conversation.id": "c",
        "gen_ai.usage.output_tokens": 7,
    }
    del attributes[left_out]
    (found,) = export.exported(_line({"attributes": attributes}))
    assert isinstance(found, Reject)


def test_ai_units_have_a_price_only_since_they_are_billed():
    metrics = {
        "m": {"usage": {"inputTokens": 5, "outputTokens": 5}, "totalNanoAiu": 10**11}
    }

    def cost(at):
        event = {
            "type": "session.shutdown",
            "timestamp": at,
            "data": {"modelMetrics": metrics},
        }
        (segment,) = _usage(copilot_cli, "k", event)
        return segment.reported_cost_usd

    assert cost("2026-05-31T23:59:59Z") is None
    assert cost("2026-06-01T00:00:00Z") == 1.0


YAML = {
    "name: plain": "plain",
    'name: "quoted: \\"so\\""': 'quoted: "so"',
    "name: 'it''s'": "it's",
    "name: |-\n  two\n  lines\ncwd: /x": "two\nlines",
    "name: null\nsummary: its summary": "its summary",
    "  name: not at the top": None,
    'name: "damaged': '"damaged',
}


@pytest.mark.parametrize(("text", "title"), YAML.items())
def test_the_side_file_gives_the_title(text, title):
    (session,) = stores.workspace("s", text.encode())
    assert session.title == title


CHANGES = [
    ([{"kind": 0, "v": {"a": [1, 2, 3]}}], {"a": [1, 2, 3]}),
    ([{"kind": 2, "k": ["a"], "v": [9], "i": 1}], {"a": [1, 9]}),
    ([{"kind": 2, "k": ["a"], "v": [9]}], {"a": [1, 2, 3, 9]}),
    ([{"kind": 2, "k": ["b"], "v": [9]}], {"a": [1, 2, 3]}),
    ([{"kind": 1, "k": ["a", 0], "v": 7}], {"a": [7, 2, 3]}),
    ([{"kind": 1, "k": ["a", 5], "v": 7}], {"a": [1, 2, 3]}),
    ([{"kind": 1, "k": ["b"], "v": 7}], {"a": [1, 2, 3], "b": 7}),
    ([{"kind": 3, "k": ["a"]}], {}),
    ([{"kind": 3, "k": []}, {"kind": 9}, "odd", 5], {"a": [1, 2, 3]}),
    ([{"kind": 0, "v": {"new": 1}}], {"new": 1}),
]


@pytest.mark.parametrize(("changes", "state"), CHANGES)
def test_changes_are_replayed_in_their_order(changes, state):
    lines = [{"kind": 0, "v": {"a": [1, 2, 3]}}, *changes]
    assert Replay(b"\n".join(map(encode, lines)) + b'\n{"kind":1,"k":[').state == state


@pytest.mark.parametrize("data", [b"", b"\n", b'{"kind":1,"k":["a"],"v":1}\n', b"{"])
def test_changes_to_nothing_are_unreadable(data):
    with pytest.raises(Unreadable):
        Replay(data)


PLACES = {
    '{"folder": "file:///home/ada/my%20shop"}': "/home/ada/my shop",
    '{"workspace": "file:///home/ada/a.code-workspace"}': "/home/ada/a.code-workspace",
    '{"folder": "vscode-remote://ssh-remote%2Bx/srv"}': "vscode-remote://"
    "ssh-remote%2Bx/srv",
    '{"folder": "file:///c:/shop"}': "c:/shop",
    '{"folder": 5}': None,
    "{": None,
}


@pytest.mark.parametrize(("text", "folder"), PLACES.items())
def test_a_chat_is_about_the_folder_of_its_window(text, folder, tmp_path):
    chats = tmp_path / "workspaceStorage/hash/chatSessions"
    chats.mkdir(parents=True)
    (chats / "c.json").write_text('{"sessionId": "c", "requests": []}')
    (chats.parent / "workspace.json").write_text(text)
    (stream,) = vscode_copilot.discover(str(tmp_path), {})
    (chunk,) = vscode_copilot.read(stream, None, {})
    (session,) = chunk.records
    record = Record(stream, 0, 0, session.key, session.data)
    ((found,), _) = facts_of(vscode_copilot, record)
    assert found.cwd == folder


@pytest.mark.parametrize("below", ["", "Code/User", "user-data/User"])
def test_chats_are_found_below_what_the_variables_of_vs_code_name(below, tmp_path):
    chats = tmp_path / below / "workspaceStorage/hash/chatSessions"
    chats.mkdir(parents=True)
    (chats / "c.jsonl").write_text("{}")
    (chats / "c.json").write_text("{}")
    (stream,) = vscode_copilot.discover(str(tmp_path), {})
    assert stream.path == str(chats / "c.jsonl")
