"""Types of record that an adapter does not know: kept, counted, shown, once."""

import json
from itertools import count

import pytest
from support.cases import plans
from support.terminal import Terminal
from support.transcripts import SESSION, lines

from agentlake.pipelines.ingest.replay import replay
from agentlake.pipelines.warehouse.connect import transaction

NEW = {
    "type": "hologram",
    "sessionId": SESSION,
    "message": {"usage": {"input_tokens": 7, "output_tokens": 7}},
}
FOUND = "select source, type, records, example_seq from marts.unknown_types"


def write(home, *rows):
    file = home / ".claude/projects/-x" / f"{SESSION}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as out:
        out.write(lines(1))
        for row in rows:
            out.write(json.dumps(row).encode() + b"\n")
    return file


def test_a_new_type_of_row_is_counted_with_an_example_and_is_no_reject(lake):
    file = write(lake.home, NEW, NEW)
    report = lake.load()
    assert report.total("rejects") == 0
    assert lake.rows(FOUND) == [("claude_code", "row hologram", 2, 2)]
    assert lake.one("select example_path from marts.unknown_types") == str(file)
    write(lake.home, NEW)
    lake.load()
    assert lake.rows(FOUND) == [("claude_code", "row hologram", 3, 4)]
    assert lake.one("select first_seen_at < last_seen_at from marts.unknown_types")


def test_a_replay_counts_them_again_and_only_once(lake):
    write(lake.home, NEW)
    lake.load()
    (plan,) = [it for it in plans(lake.home) if it.adapter.SOURCE == "claude_code"]
    with transaction(lake.connection):
        replay(lake.connection, plan.adapter, count(9).__next__)
    assert lake.one("select count(*) from meta.unknown_records") == 1


@pytest.mark.slow
def test_doctor_shows_them_and_is_not_alarmed(tmp_path, capsys):
    terminal = Terminal(tmp_path, capsys)
    file = write(terminal.home, NEW)
    assert terminal("load", "--quiet") == 0
    assert terminal("doctor") == 0
    assert f"unknown type row hologram, kept in raw; the latest: {file}:2" in (
        terminal.out
    )
    (one,) = [
        it for it in terminal.json("doctor", "--json")["sources"] if it["streams"]
    ]
    assert [it["type"] for it in one["unknown_types"]] == ["row hologram"]
