"""Mistral Vibe, what no single look at its files shows: totals that move."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlake.adapters import mistral_vibe
from agentlake.adapters.sdk.contract import Record, Stream
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.sdk.run import facts_of
from agentlake.models.usage import Usage

FOLDER = ".vibe/logs/session/session_20260701_100000_"
TOTAL = "select sum(input_tokens), sum(output_tokens) from core.usage"


def meta(name, minute, prompt, reply, steps, *, parent=None):
    return {
        "session_id": name,
        "parent_session_id": parent,
        "start_time": f"2026-07-01T10:{minute - 1:02}:00+00:00",
        "end_time": f"2026-07-01T10:{minute:02}:00+00:00",
        "config": {"active_model": "devstral-2"},
        "stats": {
            "steps": steps,
            "session_prompt_tokens": prompt,
            "session_completion_tokens": reply,
        },
    }


def seen(lake, name, *rest, **more):
    """The session's state is written, and loaded."""
    file = lake.home / f"{FOLDER}{name}" / "meta.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(meta(name, *rest, **more)))
    message = {"role": "user", "content": name, "message_id": f"m-{name}"}
    file.with_name("messages.jsonl").write_text(json.dumps(message) + "\n")
    lake.load()


def by_session(lake):
    return lake.rows(
        "select session_id, input_tokens, output_tokens from core.usage order by all"
    )


@pytest.mark.slow
def test_a_compaction_takes_the_totals_along_and_a_resume_begins_at_0(lake):
    seen(lake, "aaaa", 20, 9000, 400, 4)
    seen(lake, "bbbb", 30, 11500, 650, 5, parent="aaaa")
    seen(lake, "bbbb", 40, 14000, 800, 7, parent="aaaa")
    assert by_session(lake) == [("aaaa", 9000, 400), ("bbbb", 5000, 400)]
    seen(lake, "aaaa", 50, 2000, 90, 1)
    assert lake.rows(TOTAL) == [(16000, 890)]
    seen(lake, "bbbb", 55, 15000, 900, 9, parent="aaaa")
    assert by_session(lake) == [("aaaa", 11000, 490), ("bbbb", 6000, 500)]
    steps = lake.rows("select input_tokens from core.usage_steps order by called_at")
    assert steps == [(9000,), (2500,), (2500,), (2000,), (1000,)]


@pytest.mark.parametrize(
    ("prompt", "reply", "steps"), [(8999, 700, 9), (12000, 399, 9), (12000, 700, 3)]
)
def test_a_total_that_does_not_hold_its_origins_is_its_own(lake, prompt, reply, steps):
    seen(lake, "aaaa", 20, 9000, 400, 4)
    seen(lake, "bbbb", 30, prompt, reply, steps, parent="aaaa")
    assert by_session(lake) == [("aaaa", 9000, 400), ("bbbb", prompt, reply)]


@pytest.mark.slow
def test_replaying_gives_the_same_totals(lake, monkeypatch):
    seen(lake, "aaaa", 20, 9000, 400, 4)
    seen(lake, "aaaa", 30, 2000, 90, 1)
    monkeypatch.setattr(mistral_vibe, "PARSER_VERSION", 99)
    lake.load()
    assert by_session(lake) == [("aaaa", 11000, 490)]


def usage(said, folder="session_20260701_100000_abcd1234"):
    path = f"/home/ada/.vibe/logs/session/{folder}/meta.json"
    stream = Stream(path=path, key="k", reader="json_document")
    data = json.dumps(said).encode()
    found, _ = facts_of(mistral_vibe, Record(stream, 0, 0, "meta", data))
    return next((one for one in found if isinstance(one, Usage)), None)


def test_the_origin_is_cut_like_the_sessions_own_id():
    said = meta("abcd1234-0000", 20, 1, 1, 1, parent="ffff5678-0000")
    assert usage(said).forked_from_session_id == "ffff5678"
    said = meta("other", 20, 1, 1, 1, parent="ffff5678-0000")
    assert usage(said).forked_from_session_id == "ffff5678-0000"


def test_cached_tokens_are_a_part_of_the_prompt_and_no_cost_is_not_0():
    said = meta("abcd1234", 20, 100, 5, 1)
    said["stats"] |= {"session_cached_tokens": 60, "session_cost": 0}
    found = usage(said)
    assert (found.input_tokens, found.cache_read_tokens) == (40, 60)
    assert found.reported_cost_usd is None
    assert found.called_at == datetime(2026, 7, 1, 10, 20, tzinfo=UTC)


def test_a_half_written_state_waits():
    stream = Stream(path="meta.json", key="k", reader="json_document")
    with pytest.raises(Unreadable):
        list(mistral_vibe.explode(stream, b'{"session_id": "a'))


@given(st.binary(), st.sampled_from(["meta.json", "messages.jsonl"]))
def test_whatever_stands_there_costs_itself_only(data, name):
    path = f"/h/.vibe/logs/session/s_20260701_100000_a/{name}"
    facts_of(mistral_vibe, Record(Stream(path=path, key="k"), 0, 0, "k", data))
