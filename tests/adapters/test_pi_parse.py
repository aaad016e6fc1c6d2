"""The format of the Pi family, rule by rule: how things are named and what counts."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import aged, plans
from support.damage import ANYTHING, are_facts_or_rejects, spoiled
from support.warehouses import refreshed

from agentlake.adapters import pi
from agentlake.adapters.sdk.contract import Record, Stream
from agentlake.adapters.sdk.run import facts_of
from agentlake.pipelines.ingest.loader import load

ME = "0a000000-0000-4000-8000-000000000001"
FILE = f"2026-09-01T10-00-00-000Z_{ME}.jsonl"
AT = datetime(2026, 9, 1, 10, 0, 5, tzinfo=UTC)
USED = {"input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 15}
TOKENS = "input_tokens cache_read_tokens cache_write_tokens output_tokens"


def read(data, path=FILE):
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return facts_of(pi, Record(Stream(path=path, key=ME), 3, 0, "k1", raw))


def facts(data, **more):
    found, rejects = read(data, **more)
    assert rejects == []
    return found


def kinds(data):
    return " ".join(type(fact).__name__ for fact in facts(data))


def values(fact, fields):
    return tuple(getattr(fact, field) for field in fields.split())


def entry(type_, **fields):
    at = {"id": "0000000a", "parentId": "00000009", "timestamp": AT.isoformat()}
    return {"type": type_, **at, **fields}


def message(role, **fields):
    return entry(
        "message", message={"role": role, "timestamp": 1788256805000, **fields}
    )


def answer(usage=None, **fields):
    return message("assistant", content=[], usage=usage or USED, **fields)


def only_usage(usage, **fields):
    return facts(answer(usage, **fields))[0]


# --- files


def found(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    base = f"{root}/"
    streams = list(pi.discover(str(root), {}))
    return {s.path.removeprefix(base): s.key.replace(base, "") for s in streams}


def test_sessions_lie_in_folders_or_flat_and_very_old_ones_beside_them(tmp_path):
    other = FILE.replace(ME, "b2")
    old = FILE.replace(ME, "c3")
    names = (f"sessions/--w--/{FILE}", f"sessions/{other}", old, "sessions/own.jsonl")
    keys = (ME, "b2", "c3", "own")
    noise = ("debug.jsonl", "sessions/--w--/notes.txt", "models/x.jsonl")
    assert found(tmp_path, *names, *noise) == dict(zip(names, keys, strict=True))


def test_a_folder_of_sessions_may_be_the_root(tmp_path):
    names = (f"--w--/{FILE}", FILE.replace(ME, "b2"))
    streams = dict(zip(names, (ME, "b2"), strict=True))
    assert found(tmp_path, *names, "--w--/notes.jsonl") == streams


def test_of_two_files_of_one_session_the_second_is_known_by_its_path(tmp_path):
    one, two = f"sessions/--a--/{FILE}", f"sessions/--b--/{FILE}"
    assert found(tmp_path, two, one) == {one: ME, two: two}


# --- names


def test_an_entry_is_named_by_id_and_time_in_every_file_that_has_it():
    (fact, *_) = facts(entry("label"))
    (copy, *_) = facts(entry("label"), path=FILE.replace(ME, "b2"))
    assert fact.message_id == copy.message_id == f"0000000a@{AT.isoformat()}"
    assert (fact.session_id, copy.session_id) == (ME, "b2")
    assert values(fact, "record_id parent_record_id") == ("0000000a", "00000009")


def test_without_time_an_entry_is_named_within_its_session():
    assert facts({"type": "label", "id": "0a"})[0].message_id == f"{ME}:0a"
    bare = {"type": "message", "message": {"role": "user", "content": "hi"}}
    assert facts(bare)[0].message_id == f"{ME}:k1"


def test_in_version_1_what_an_entry_says_and_when_is_its_name():
    def name(said, at="2025-11-20T10:00:00Z"):
        body = {"role": "user", "content": said}
        return facts({"type": "message", "timestamp": at, "message": body})[
            0
        ].message_id

    assert name("hi") == name("hi")
    assert len({name("hi"), name("ho"), name("hi", "2025-11-20T10:00:01Z")}) == 3


@pytest.mark.parametrize(
    ("origin", "parent"),
    [
        ({"parentSession": f"/home/ada/.pi/agent/sessions/--w--/{FILE}"}, ME),
        ({"branchedFrom": f"C:\\pi\\sessions\\--w--\\{FILE}"}, ME),
        ({"parentSession": ME}, ME),
        ({"parentSession": "/tmp/mine.jsonl"}, "mine"),
        ({}, None),
    ],
)
def test_a_header_names_its_parent_by_file_or_id(origin, parent):
    header = {"type": "session", "id": "x", "timestamp": AT.isoformat(), "cwd": "/w"}
    (fact,) = facts(header | origin)
    relation = "fork" if parent else None
    said = (ME, parent, relation, "/w", AT)
    fields = "session_id parent_session_id relation cwd started_at"
    assert values(fact, fields) == said


# --- usage


@pytest.mark.parametrize(
    ("usage", "provider", "tokens"),
    [
        (USED, "anthropic", (10, 0, 0, 5)),
        (USED | {"cacheRead": 7, "cacheWrite": 2}, "anthropic", (10, 7, 2, 5)),
        (USED | {"cacheRead": 7}, "anthropic", (10, 7, 0, 5)),
        (USED | {"cacheRead": 7}, "google", (3, 7, 0, 5)),
        (USED | {"cacheRead": 7}, "google-vertex", (3, 7, 0, 5)),
        (USED | {"cacheRead": 7}, None, (3, 7, 0, 5)),
        (USED | {"cacheRead": 7, "totalTokens": 22}, "google", (10, 7, 0, 5)),
        (USED | {"cacheRead": 70}, "google", (10, 70, 0, 5)),
        ({"output": 5}, "anthropic", (None, None, None, 5)),
    ],
)
def test_the_prompt_is_whole_only_where_google_wrote_it_so(usage, provider, tokens):
    assert values(only_usage(usage, provider=provider), TOKENS) == tokens


@pytest.mark.parametrize(
    ("cost", "reported"),
    [
        ({"cost": {"total": 0.25}}, 0.25),
        ({"cost": {"total": 0}}, None),
        ({"cost": {"total": 0}, "costUSD": 0.5}, 0.5),
        ({}, None),
    ],
)
def test_a_cost_of_0_is_no_price(cost, reported):
    assert only_usage(USED | cost).reported_cost_usd == reported


def test_reasoning_has_two_names():
    assert only_usage(USED | {"reasoning": 3}).reasoning_tokens == 3
    assert only_usage(USED | {"reasoningTokens": 4}).reasoning_tokens == 4


def test_the_model_that_a_router_chose_is_billed_and_the_wanted_one_is_kept():
    usage, said = facts(answer(model="auto", responseModel="gpt-5-mini"))
    assert (usage.model, said.model) == ("gpt-5-mini", "auto")


@pytest.mark.parametrize("stop", ["error", "aborted", "stop"])
def test_what_was_never_answered_has_no_usage(stop):
    nothing = dict.fromkeys(USED, 0)
    assert "Usage" not in kinds(answer(nothing, stopReason=stop))
    assert "Usage" in kinds(answer(stopReason=stop))


@pytest.mark.parametrize(
    ("data", "model", "turn"),
    [
        (entry("compaction", usage=USED, summary="s"), None, "00000009"),
        (entry("branch_summary", usage=USED, summary="s"), None, "00000009"),
        (entry("usage", usage=USED, kind="cache_warm", model="m"), "m", None),
        (message("toolResult", usage=USED, toolCallId="c1", content=[]), None, None),
    ],
)
def test_only_what_the_conversation_itself_needs_has_the_model_of_its_branch(
    data, model, turn
):
    assert values(facts(data)[0], "model turn_id") == (model, turn)


# --- messages


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (message("user", content="hi"), "user prompt hi"),
        (message("user", content=["hi"]), "user prompt hi"),
        (message("assistant", content=["ok"]), "assistant response ok"),
        (message("bashExecution", command="ls", output="a"), "user command ls\na"),
        (message("custom", content="x"), "system meta x"),
        (message("hookMessage", content="x"), "system meta x"),
        (message("system", content="x"), "system meta x"),
        (message("compactionSummary", summary="s"), "user compaction_summary s"),
        (message("branchSummary", summary="s"), "system meta s"),
        (entry("custom_message", content="x"), "system meta x"),
        (entry("branch_summary", summary="s"), "system meta s"),
    ],
)
def test_only_what_the_user_wrote_is_a_prompt(data, said):
    found, block = facts(data)
    assert f"{found.role} {found.kind} {block.text}" == said


def test_an_image_alone_is_a_prompt():
    found, block = facts(message("user", content=[{"type": "image", "data": "aGk="}]))
    assert (found.kind, block.type, block.text) == ("prompt", "image", None)


@pytest.mark.parametrize("type_", ["label", "context_edit", "custom", "of_tomorrow"])
def test_an_entry_that_says_nothing_still_stands_in_the_tree(type_):
    (fact,) = facts(entry(type_, message=5, usage="odd"))
    assert values(fact, "role kind record_id") == ("system", "meta", "0000000a")


def test_what_is_neither_known_nor_of_the_tree_is_passed_over():
    assert facts({"type": "of_tomorrow"}) == facts({}) == []


@pytest.mark.parametrize("data", [b"[]", b"5", b"null", b'{"a":'])
def test_what_is_no_object_is_a_reject(data):
    assert [len(some) for some in read(data)] == [0, 1]


# --- a file that gets its ids later


def test_a_version_1_file_that_gets_ids_is_not_billed_twice(lake):
    folder = lake.home / ".pi/agent/sessions/--w--"
    folder.mkdir(parents=True)
    header = {"type": "session", "id": ME, "timestamp": AT.isoformat(), "cwd": "/w"}
    said = [message("user", content="hi"), answer(model="m", responseId="r1")]
    for line in said:
        del line["id"], line["parentId"]

    def write(lines):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / "new").write_text(text)
        (folder / "new").replace(folder / FILE)
        aged(folder / FILE)
        load(lake.connection, plans(lake.home), refresh=refreshed)
        return lake.rows("select input_tokens, output_tokens from core.usage")

    assert write([header, *said]) == [(10, 5)]
    ids = ({"id": f"{n:08x}", "parentId": None} for n in range(2))
    later = [line | id_ for line, id_ in zip(said, ids, strict=True)]
    assert write([header | {"version": 3}, *later]) == [(10, 5)]


LINES = [
    {"type": "session", "id": ME, "timestamp": AT.isoformat(), "parentSession": FILE},
    message("user", content=[{"type": "text", "text": "hi"}]),
    answer(USED | {"cost": {"total": 0.1}}, model="m", api="a", responseId="r"),
    message("assistant", content=[{"type": "toolCall", "id": "c", "arguments": {}}]),
    message("toolResult", toolCallId="c1", content=["x"], isError=False, usage=USED),
    entry("compaction", summary="s", tokensBefore=5, usage=USED),
    entry("usage", usage=USED, model="m", provider="p"),
    entry("session_info", name="n"),
    entry("model_change", modelId="m"),
]


@given(st.data(), st.sampled_from(LINES), ANYTHING)
def test_a_damaged_line_is_facts_or_rejects_and_never_a_crash(data, whole, anything):
    are_facts_or_rejects(*read(spoiled(data, whole, anything)))
