"""Kimi, what golden cases do not show: which files are whose, times, any damage."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlake.adapters import kimi
from agentlake.adapters.kimi.where import moment
from agentlake.adapters.sdk.contract import Record, Stream
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.sdk.run import facts_of
from agentlake.models.usage import Usage

CLI = "/h/.kimi/sessions/5d41/k1/wire.jsonl"
CODE = "/h/.kimi-code/sessions/wd_shop_01/session_1/agents/main/wire.jsonl"


def read(path, data):
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return facts_of(kimi, Record(Stream(path=path, key="k"), 0, 0, "k1", raw))


def test_wires_and_states_are_streams_and_nothing_else_is(tmp_path):
    places = {
        "session_index.jsonl": None,
        "sessions/5d41/k1/state.json": "k1/state",
        "sessions/5d41/k1/subagents/a1/wire.jsonl": "a1/k1/cli",
        "sessions/5d41/k1/wire.jsonl": "k1/cli",
        "sessions/wd_x/s1/agents/main/wire.jsonl": "s1/code",
        "sessions/wd_x/s1/agents/sub-1/wire.jsonl": "sub-1/s1/code",
        "sessions/5d41/k1/context.jsonl": "",
        "sessions/5d41/k1/context_1.jsonl": "",
        "imported_sessions/5d41/k9/wire.jsonl": "",
        "config.toml": "",
        "credentials/kimi.json": "",
    }
    for place in places:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    index = str(tmp_path / "session_index.jsonl")
    found = [one.key for one in kimi.discover(str(tmp_path), {})]
    assert found == [index] + [key for key in places.values() if key]


def test_a_session_that_lies_in_two_folders_is_two_streams(tmp_path):
    for folder in ("aaaa", "bbbb"):
        (tmp_path / "sessions" / folder / "k1").mkdir(parents=True)
        (tmp_path / "sessions" / folder / "k1" / "wire.jsonl").touch()
    first, second = kimi.discover(str(tmp_path), {})
    assert first.key == "k1/cli"
    assert second.key == f"k1/cli@{second.path}"


def test_a_time_is_a_time_however_it_is_written():
    then = datetime(2026, 5, 28, 20, 26, 40, 500000, tzinfo=UTC)
    assert moment(1780000000.5) == moment(1780000000500) == moment(then) == then
    assert moment(None) is None


def test_an_update_of_the_meter_is_no_call():
    payload = {"context_tokens": 900, "token_usage": None}
    line = {"timestamp": 1.0, "message": {"type": "StatusUpdate", "payload": payload}}
    assert read(CLI, line) == ([], [])


def test_both_scopes_of_usage_are_calls_and_a_step_end_has_less_precedence():
    usage = {"inputOther": 1, "output": 2}
    record = {"type": "usage.record", "time": 1788000002001, "usage": usage}
    precedences = []
    for scope in ("turn", "session"):
        (found,), _ = read(CODE, record | {"usageScope": scope})
        precedences.append(found.precedence)
    event = {"type": "step.end", "usage": usage}
    step = {"type": "context.append_loop_event", "time": 1788000002000, "event": event}
    (found,), _ = read(CODE, step)
    assert precedences == [2, 2]
    assert isinstance(found, Usage)
    assert found.precedence == 1


def state(tmp_path, text):
    path = tmp_path / "sessions/wd_x/s1/state.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    stream = Stream(path=str(path), key="s1/state", reader="own")
    (chunk,) = kimi.read(stream, None, {})
    return [(one.key, json.loads(one.data)) for one in chunk.records]


def test_a_half_written_state_waits(tmp_path):
    with pytest.raises(Unreadable):
        state(tmp_path, '{"title": "a')


def test_of_the_configuration_only_the_models_are_read(tmp_path):
    config = tmp_path / "config.toml"
    config.write_text(
        '[providers.p]\napi_key = "no"\n[models.mine]\nmodel = "kimi-k2"\n[models.x]\n'
    )
    models = ("models", {"mine": "kimi-k2"})
    assert state(tmp_path, "{}") == [("state", {}), models]
    for damaged in ("[models", "models = 5", ""):
        config.write_text(damaged)
        assert state(tmp_path, "{}") == [("state", {})]


@pytest.mark.parametrize("line", [{}, {"time": 5}, {"message": {"role": "user"}}])
def test_a_line_of_neither_program_is_a_reject(line):
    for path in (CLI, CODE):
        assert [len(some) for some in read(path, line)] == [0, 1]


def test_a_call_that_used_nothing_is_none():
    nothing = {"inputOther": 0, "output": 0, "inputCacheRead": 0}
    assert read(CODE, {"type": "usage.record", "time": 1, "usage": nothing}) == ([], [])
    payload = {"message_id": "m", "token_usage": {"input_other": 0, "output": 0}}
    line = {"timestamp": 1, "message": {"type": "StatusUpdate", "payload": payload}}
    assert read(CLI, line) == ([], [])


def test_arguments_that_are_no_json_become_a_json_text():
    for said, kept in (('{"a": 1}', '{"a": 1}'), ("ls -l", '"ls -l"')):
        payload = {"id": "t1", "function": {"name": "Shell", "arguments": said}}
        line = {"timestamp": 1.0, "message": {"type": "ToolCall", "payload": payload}}
        found, _ = read(CLI, line)
        assert found[-1].input == kept


@given(st.sampled_from([CLI, CODE]), st.binary())
def test_whatever_stands_there_costs_itself_only(path, data):
    read(path, data)
