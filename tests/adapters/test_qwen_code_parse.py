"""Qwen Code, rule by rule: counts, lines with several objects, damage."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.damage import ANYTHING, are_facts_or_rejects, spoiled

from agentlake.adapters import qwen_code
from agentlake.adapters.qwen_code import rules
from agentlake.adapters.qwen_code.format import Tokens
from agentlake.adapters.sdk.contract import Record, Stream
from agentlake.adapters.sdk.run import facts_of

AT = "2026-09-10T10:00:00Z"


def read(data, path="/q/projects/p/chats/s1.jsonl", reader="jsonl"):
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    stream = Stream(path=path, key=path, reader=reader)
    return facts_of(qwen_code, Record(stream, 0, 0, "k1", raw))


@pytest.mark.parametrize(
    ("prompt", "said", "thought", "total", "output"),
    [
        (900, 40, 15, 940, 40),
        (900, 40, 15, None, 40),
        (900, 40, 15, 955, 55),
        (900, 40, 15, 1000, 100),
        (900, 40, 15, 930, 40),
        (900, None, None, 950, 50),
        (900, 40, None, 940, 40),
        (None, 40, 0, 40, 40),
    ],
)
def test_only_the_total_tells_whether_the_output_holds_the_reasoning(
    prompt, said, thought, total, output
):
    tokens = Tokens(
        prompt_token_count=prompt,
        candidates_token_count=said,
        thoughts_token_count=thought,
        total_token_count=total,
    )
    assert rules.output(tokens) == output


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"a":1}', [b'{"a":1}']),
        (b'{"a":"}{"}{"b":2}', [b'{"a":"}{"}', b'{"b":2}']),
        (b'\0{"a":1}\0\0{"b":2}', [b'{"a":1}', b'{"b":2}']),
        (b'{"a":1}{"b"', [b'{"a":1}', b'{"b"']),
        (b'{"a', [b'{"a']),
    ],
)
def test_a_line_gives_each_of_its_objects(line, found):
    assert list(rules.objects(line)) == found


def test_a_torn_object_costs_only_itself():
    whole = {"type": "user", "uuid": "u", "timestamp": AT, "message": {"parts": []}}
    facts, rejects = read(json.dumps(whole).encode() + b'{"type":"assis')
    assert [fact.record_id for fact in facts] == ["u"]
    assert len(rejects) == 1


@pytest.mark.parametrize("subtype", ["ui_telemetry", "rewind", "turn_result", "new"])
def test_rows_of_the_program_itself_give_no_usage(subtype):
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 5}
    row = {"type": "system", "subtype": subtype, "uuid": "u", "usageMetadata": usage}
    assert read(row | {"systemPayload": {"uiEvent": usage}}) == ([], [])


def test_what_is_not_a_transcript_is_left_alone(tmp_path):
    chats, agents = "projects/-w/chats", "projects/-w/subagents/s1"
    taken = [f"{chats}/s1.jsonl", f"{agents}/agent-1.jsonl"]
    taken.append(f"{agents}/agent-1.meta.json")
    left = [f"{chats}/s1.runtime.json", f"{agents}/agent-1.jsonl.stream", "x.jsonl"]
    for name in (*taken, *left):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    paths = [stream.path for stream in qwen_code.discover(str(tmp_path), {})]
    assert paths == sorted(str(tmp_path / name) for name in taken)


CALL = {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}}
ANSWER = {"functionResponse": {"id": "c1", "response": {"output": "x"}}}
ROW = {"uuid": "u", "timestamp": AT, "agentId": "1", "forkedFrom": {"sessionId": "s"}}
USED = {"promptTokenCount": 9, "cachedContentTokenCount": 3, "totalTokenCount": 12}
ROWS = [
    ROW | {"type": "user", "message": {"parts": [{"text": "hi"}]}},
    ROW | {"type": "assistant", "message": {"parts": [CALL]}, "usageMetadata": USED},
    ROW
    | {
        "type": "tool_result",
        "message": {"parts": [ANSWER]},
        "toolCallResult": {"callId": "c1", "status": "error", "durationMs": 5},
    },
    ROW
    | {
        "type": "system",
        "subtype": "chat_compression",
        "systemPayload": {"info": {"originalTokenCount": 5}},
    },
]


@given(st.data(), st.sampled_from(ROWS), ANYTHING)
def test_a_damaged_row_is_facts_or_rejects_and_never_a_crash(data, whole, anything):
    are_facts_or_rejects(*read(spoiled(data, whole, anything)))
