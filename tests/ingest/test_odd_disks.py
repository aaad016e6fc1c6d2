"""What a disk may hold that no agent should have written: nothing stops a load."""

import json
import os
from pathlib import Path

import pytest

from agentlake.pipelines.settings.settings import load_settings
from agentlake.pipelines.sync import sync
from agentlake.pipelines.warehouse.connect import reading

pytestmark = pytest.mark.slow

SESSION = "aaaaaaaa-0000-4000-8000-000000000001"


def row(number, **more):
    usage = {"input_tokens": 10, "output_tokens": 5} | more.pop("usage", {})
    message = {"id": f"msg_{number}", "role": "assistant", "model": "claude-opus-4-8"}
    message |= {"content": more.pop("content", []), "usage": usage}
    return {
        "type": "assistant",
        "uuid": f"u-{number}",
        "sessionId": SESSION,
        "timestamp": f"2026-11-01T10:00:{number:02d}Z",
        "message": message,
    } | more


@pytest.fixture
def load(tmp_path):
    """Write files below ~/.claude/projects/-x, load, and give the calls' tokens."""
    home, lake = tmp_path / "home", tmp_path / "lake.duckdb"
    folder = home / ".claude" / "projects" / "-x"
    folder.mkdir(parents=True)
    settings = load_settings(
        config=None,
        home=home,
        warehouse=lake,
        environ={},
        known_sources=("claude_code",),
    )

    def write_and_load(files):
        for name, data in files.items():
            path = os.fsencode(folder) + b"/" + name
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 bytes
            with open(path, "ab") as file:  # noqa: PTH123 bytes
                file.write(data)
        sync(settings, environ={})
        with reading(lake) as connection:
            calls = connection.execute(
                "select message_id, input_tokens, output_tokens from core.usage"
                " order by message_id"
            ).fetchall()
            reasons = connection.execute("select reason from meta.rejects").fetchall()
        return calls, [reason for (reason,) in reasons]

    return write_and_load


def lines(*rows):
    return b"".join(json.dumps(one).encode() + b"\n" for one in rows)


MAIN = f"{SESSION}.jsonl".encode()
GOOD = ("msg_1", 10, 5)


@pytest.mark.parametrize(
    "odd",
    [
        {"costUSD": 1e12},
        {"costUSD": -5},
        {"usage": {"cache_read_input_tokens": 2**63 - 1}},
        {"usage": {"server_tool_use": {"web_search_requests": 2**62}}},
        {"usage": {"output_tokens_details": {"thinking_tokens": 2**70}}},
    ],
)
def test_a_number_beyond_belief_is_a_reject_and_costs_nothing_else(load, odd):
    calls, rejects = load({MAIN: lines(row(1), row(2, **odd))})
    assert calls == [GOOD, ("msg_2", 10, 5)]
    assert len(rejects) == 1
    calls, _ = load({MAIN: lines(row(3))})
    assert calls[-1] == ("msg_3", 10, 5)


def test_a_number_that_is_none_is_a_reject(load):
    line = lines(row(2)).replace(b'"input_tokens": 10', b'"input_tokens": NaN')
    calls, rejects = load({MAIN: lines(row(1)) + line})
    assert calls == [GOOD, ("msg_2", None, 5)]
    assert len(rejects) == 1


@pytest.mark.parametrize("name", [b"\xff\xfe.jsonl", b"../d\xffr/x.jsonl"])
def test_a_name_that_is_no_text_is_loaded_like_any_other(load, name):
    calls, rejects = load({MAIN: lines(row(1)), name: lines(row(2))})
    assert calls == [GOOD, ("msg_2", 10, 5)]
    assert rejects == []


def test_a_moved_output_with_a_name_in_an_old_encoding_stops_nothing(load):
    spill = SESSION.encode() + b"/tool-results/r\xe9sultat.txt"
    calls, _ = load({MAIN: lines(row(1)), spill: b"x"})
    assert calls == [GOOD]


def test_a_deep_last_line_without_newline_waits_even_when_it_is_old(load, tmp_path):
    deep = b"[" * 6000 + b"]" * 6000
    folder = tmp_path / "home" / ".claude" / "projects" / "-x"
    path = Path(folder, MAIN.decode())
    path.write_bytes(lines(row(1)) + deep)
    os.utime(path, (5, 5))
    calls, _ = load({})
    assert calls == [GOOD]


def test_more_odd_parts_than_can_be_named_do_not_cost_the_usage(load):
    calls, rejects = load({MAIN: lines(row(1, content=[{"type": 5}] * 100))})
    assert calls == [GOOD]
    assert rejects


def test_what_leads_nowhere_is_no_stream_and_no_failure(load, tmp_path):
    folder = tmp_path / "home" / ".claude" / "projects" / "-x"
    (folder / "gone.jsonl").symlink_to(folder / "nothing.jsonl")
    (folder / "self.jsonl").symlink_to(folder / "self.jsonl")
    calls, _ = load({MAIN: lines(row(1))})
    assert calls == [GOOD]
