"""Amp and Cline rewrite whole files: what was paid stays, and stays once."""

import json

import pytest

from agentlake.adapters import amp, cline_family
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.sdk.readers.chunks import chunks

OPUS = "claude-opus-4-5"


def usage(lake):
    return lake.rows(
        """
        select usage_id, input_tokens, cache_read_tokens, output_tokens
        from core.usage order by called_at, usage_id
        """
    )


class Thread:
    """A thread of Amp that is written anew with each change."""

    def __init__(self, lake):
        self.lake = lake
        self.file = lake.home / ".local/share/amp/threads/T-1.json"
        self.file.parent.mkdir(parents=True)

    def write(self, messages, events=None):
        """Messages and events by number; each costs ten times that."""
        thread = {
            "id": "T-1",
            "messages": [{"role": "user", "messageId": 0, "content": "hi"}],
        }
        for number in messages:
            tokens = {
                "model": OPUS,
                "inputTokens": number * 10,
                "outputTokens": number,
                "cacheReadInputTokens": 500,
                "timestamp": f"2026-01-01T00:00:0{number}Z",
            }
            thread["messages"].append(
                {"role": "assistant", "messageId": number, "usage": tokens}
            )
        if events is not None:
            thread["usageLedger"] = {
                "events": [
                    {
                        "id": f"e{number}",
                        "timestamp": f"2026-01-01T00:00:0{number}Z",
                        "model": OPUS,
                        "tokens": {"input": number * 10, "output": number},
                        "toMessageId": number,
                    }
                    for number in events
                ]
            }
        self.file.write_text(json.dumps(thread))
        self.lake.load()
        return usage(self.lake)


@pytest.fixture
def thread(lake):
    return Thread(lake)


def test_a_thread_that_gets_a_ledger_is_not_counted_twice(thread):
    assert thread.write([1]) == [("T-1/1", 10, 500, 1)]
    assert thread.write([1, 3], events=[1, 3]) == [
        ("T-1/ledger/e1", 10, 500, 1),
        ("T-1/ledger/e3", 30, 500, 3),
    ]


def test_a_ledger_that_begins_later_takes_nothing_away(thread):
    thread.write([1])
    assert thread.write([1, 3], events=[3]) == [
        ("T-1/1", 10, 500, 1),
        ("T-1/ledger/e3", 30, 500, 3),
    ]


def test_what_a_removed_message_cost_stays_with_its_cache(thread):
    before = thread.write([1, 3], events=[1, 3])
    assert thread.write([1], events=[1, 3]) == before
    assert thread.write([1], events=[1]) == before
    gone = "select message_id from core.messages where is_gone"
    assert thread.lake.rows(gone) == [("T-1/3",)]


def test_an_event_that_comes_before_its_message_is_one_call(thread):
    assert thread.write([], events=[1]) == [("T-1/ledger/e1", 10, None, 1)]
    assert thread.write([1], events=[1]) == [("T-1/ledger/e1", 10, 500, 1)]


class Task:
    """A task of Cline; its requests are given as (time, output)."""

    EXTENSION = ".config/Code/User/globalStorage/saoudrizwan.claude-dev"

    def __init__(self, lake):
        self.lake = lake
        self.file = lake.home / self.EXTENSION / "tasks/t/ui_messages.json"
        self.file.parent.mkdir(parents=True)

    def write(self, *requests, deleted=None):
        entries = [{"ts": 1780000000000, "type": "say", "say": "task", "text": "go"}]
        for at, output in requests:
            counts = {} if output is None else {"tokensIn": 1, "tokensOut": output}
            entries.append(_entry("api_req_started", at, counts))
        if deleted:
            counts = {"tokensIn": 1, "tokensOut": deleted[1]}
            entries.append(_entry("deleted_api_reqs", deleted[0], counts))
        self.file.write_text(json.dumps(entries))
        self.lake.load()
        rows = usage(self.lake)
        return [(int(name[-1]), output) for name, _, _, output in rows]


def _entry(kind, at, counts):
    text = json.dumps({"request": "...", **counts})
    return {"ts": 1780000000000 + at, "type": "say", "say": kind, "text": text}


@pytest.fixture
def task(lake):
    return Task(lake)


def test_a_request_has_no_usage_until_it_has_counts(task):
    assert task.write((1, None)) == []
    assert task.write((1, 10)) == [(1, 10)]
    assert task.write((1, 10), (2, None)) == [(1, 10)]


def test_requests_that_were_taken_back_count_in_their_sum_alone(task):
    assert task.write((1, 10), (2, 20), (3, 30)) == [(1, 10), (2, 20), (3, 30)]
    assert task.write((1, 10), deleted=(4, 50)) == [(1, 10), (4, 50)]


def test_a_task_that_was_deleted_keeps_its_usage(task):
    before = task.write((1, 10), (2, 20))
    task.file.unlink()
    task.file.parent.rmdir()
    task.lake.load()
    assert [row[3] for row in usage(task.lake)] == [row[1] for row in before]


HALF = [
    (amp, "threads/T-1.json", b'{"id": "T-1", "messages": [{"role'),
    (amp, "threads/T-1.json", b"[]"),
    (cline_family, "tasks/t/ui_messages.json", b'[{"ts": 1, "say": "te'),
    (cline_family, "tasks/t/ui_messages.json", b"{}"),
    (cline_family, "sessions/s/s.messages.json", b'{"messages": ['),
]


@pytest.mark.parametrize(("adapter", "path", "data"), HALF)
def test_a_file_that_is_half_written_is_read_again_later(adapter, path, data, tmp_path):
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    (stream,) = adapter.discover(str(tmp_path), {})
    with pytest.raises(Unreadable):
        list(chunks(adapter, stream, stream.path, None, {}))
