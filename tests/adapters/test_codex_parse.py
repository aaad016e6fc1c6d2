"""Codex, rule by rule: which files are rollouts, and what one of their lines says."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.damage import ANYTHING, are_facts_or_rejects, spoiled

from agentlake.adapters import codex
from agentlake.adapters.codex.format import IGNORED
from agentlake.adapters.sdk.contract import Record, Stream, Unknown
from agentlake.adapters.sdk.run import facts_of

ME = "019a0000-0000-7000-8000-00000000000b"
PARENT = "019a0000-0000-7000-8000-00000000000a"
AT = datetime(2026, 10, 1, 9, 0, 20, tzinfo=UTC)
COUNTS = {
    "input_tokens": 1500,
    "cached_input_tokens": 900,
    "output_tokens": 80,
    "reasoning_output_tokens": 20,
    "total_tokens": 1580,
}
TOKENS = (
    "input_tokens cache_read_tokens cache_write_tokens output_tokens reasoning_tokens"
)


def read(data, key=ME, path="r.jsonl", record_key="k1", **stream):
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    of = Stream(path=path, key=key, **stream)
    return facts_of(codex, Record(of, 7, 0, record_key, raw))


def facts(data, **stream):
    found, rejects = read(data, **stream)
    assert rejects == []
    return found


def kinds(data, **stream):
    return " ".join(type(fact).__name__ for fact in facts(data, **stream))


def only(data, fields, **stream):
    """The named fields of the only fact, or the value of the only field."""
    (fact,) = facts(data, **stream)
    values = tuple(getattr(fact, field) for field in fields.split())
    return values if len(values) > 1 else values[0]


def line(type_, payload, **beside):
    return {"timestamp": AT.isoformat(), "type": type_, "payload": payload, **beside}


def item(type_, **fields):
    return line("response_item", {"type": type_, **fields})


def event(type_, **fields):
    return line("event_msg", {"type": type_, **fields})


def meta(**fields):
    return line("session_meta", {"id": ME, **fields})


def parts(*texts):
    return [{"type": "input_text", "text": text} for text in texts]


def message(role, *texts):
    return item("message", role=role, content=parts(*texts))


def counter(last=None, total=None):
    info = {"last_token_usage": last, "total_token_usage": total}
    return event("token_count", info=info)


def usage_record(usage, **fields):
    return line("token_usage_record", {"turn_id": "t1", "usage": usage, **fields})


# --- files


def keys(root, *names):
    """What is discovered when there are these files: their keys."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    streams = list(codex.discover(str(root), {}))
    assert streams == sorted(streams, key=lambda stream: stream.path)
    base = f"{root}/"
    return {s.path.removeprefix(base): s.key.replace(base, "") for s in streams}


def test_a_rollout_is_its_thread_wherever_it_lies_and_however_it_is_packed(tmp_path):
    live = f"sessions/2026/10/01/rollout-2026-10-01T09-00-00-{ME}.jsonl"
    cold = f"archived_sessions/rollout-2026-10-01T09-00-00-{PARENT}.jsonl.zst"
    old = "sessions/rollout-2025-05-09-0b1c.json"
    threads = {cold: PARENT, live: ME, old: "rollout-2025-05-09-0b1c"}
    assert keys(tmp_path, live, cold, old) == threads


def test_the_lists_beside_the_rollouts_are_known_by_their_path(tmp_path):
    names = ("history.jsonl", "session_index.jsonl")
    assert keys(tmp_path, *names) == dict(zip(names, names, strict=True))


def test_the_plain_file_wins_over_the_compressed_one_beside_it(tmp_path):
    plain = f"sessions/2026/rollout-x-{ME}.jsonl"
    assert keys(tmp_path, plain, f"{plain}.zst") == {plain: ME}


def test_of_a_thread_that_is_live_and_archived_the_live_one_has_the_name(tmp_path):
    live = f"sessions/2026/rollout-x-{ME}.jsonl"
    gone = f"archived_sessions/rollout-x-{ME}.jsonl"
    assert keys(tmp_path, live, gone) == {gone: f"{ME}@archived", live: ME}


def test_more_copies_of_a_thread_still_have_names_of_their_own(tmp_path):
    folders = ("sessions/a", "sessions/b", "archived_sessions/a", "archived_sessions/b")
    copies = [f"{folder}/rollout-x-{ME}.jsonl" for folder in folders]
    assert len(set(keys(tmp_path, *copies).values())) == len(copies)


def test_what_codex_is_still_writing_and_other_files_are_left_alone(tmp_path):
    others = (
        f"sessions/2026/rollout-x-{ME}.jsonl.tmp",
        f"sessions/2026/.rollout-x-{ME}.jsonl.paginated.tmp",
        f"sessions/2026/.rollout-x-{ME}.jsonl",
        f"sessions/2026/rollout-x-{ME}.json",
        "sessions/notes.jsonl",
        "config.toml",
    )
    assert keys(tmp_path, *others) == keys(tmp_path / "absent") == {}


# --- sessions


def test_the_header_says_who_the_thread_is():
    header = meta(
        timestamp="2026-10-01T09:00:00Z",
        cwd="/home/ada/shop",
        cli_version="0.80.0",
        source="cli",
        model_provider="openai",
        git={"commit_hash": "abc", "branch": "main", "repository_url": "git@x:shop"},
    )
    fields = "session_id cwd client_version entrypoint provider started_at"
    began = datetime(2026, 10, 1, 9, tzinfo=UTC)
    said = (ME, "/home/ada/shop", "0.80.0", "cli", "openai", began)
    assert only(header, fields) == said
    git = ("abc", "main", "git@x:shop")
    assert only(header, "git_commit git_branch repo_url") == git


def spawn(**fields):
    return {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, **fields}}}


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"source": "vscode"}, "- - interactive"),
        ({"source": "exec"}, "- - automated"),
        ({"source": "unknown"}, "- - -"),
        ({"source": {"custom": "ci"}}, "- - -"),
        ({"source": {"internal": "memory"}}, "- memory system"),
        ({"source": {"subagent": "review"}}, "subagent review system"),
        ({"source": {"subagent": {"other": "guard"}}}, "subagent guard system"),
        ({"source": spawn(agent_nickname="Ada")}, "subagent Ada -"),
        ({"source": spawn(agent_type="scout")}, "subagent scout -"),
        ({"parent_thread_id": PARENT, "agent_role": "scout"}, "subagent scout -"),
        ({"forked_from_id": PARENT, "source": "cli"}, "fork - interactive"),
        ({"history_base": {"thread_id": PARENT}}, "fork - -"),
    ],
)
def test_the_header_says_how_the_thread_came_about(header, said):
    session, *links = facts(meta(**header))
    found = (session.relation, session.agent_type, session.category)
    assert " ".join(word or "-" for word in found) == said
    parent = PARENT if PARENT in json.dumps(header) else None
    assert session.parent_session_id == parent
    linked = [(session.relation, parent)] if parent else []
    assert [(link.relation, link.parent_session_id) for link in links] == linked


def test_a_fork_by_reference_and_a_paginated_subagent_say_what_they_inherit():
    base = {"history_base": {"thread_id": PARENT}, "subagent_history_start_ordinal": 9}
    session, _link = facts(meta(**base))
    assert (session.replay_base, session.own_from_ordinal) == (PARENT, 9)


def test_the_header_of_another_thread_is_only_the_proof_of_a_copy():
    copied = meta(id=PARENT, cwd="/elsewhere")
    fields = "session_id parent_session_id relation linked_at"
    assert only(copied, fields) == (ME, PARENT, "copied", AT)


def test_a_file_without_a_thread_in_its_name_takes_any_header():
    assert only(meta(), "session_id", key="rollout-old") == "rollout-old"


def test_the_second_copy_of_a_thread_speaks_of_the_same_thread():
    assert only(meta(), "session_id", key=f"{ME}@archived") == ME


def test_titles_come_from_the_index_and_from_renaming():
    fields, title = "session_id title title_source", (ME, "Fix it", "index")
    path = "/c/session_index.jsonl"
    assert (
        only({"id": ME, "thread_name": "Fix it"}, fields, path=path, key=path) == title
    )
    renamed = event("thread_name_updated", thread_id=ME, thread_name="Fix it")
    assert only(renamed, fields) == title


def test_typed_prompts_are_kept_and_say_nothing():
    path = "/c/history.jsonl"
    assert facts({"session_id": ME, "ts": 1, "text": "hi"}, path=path, key=path) == []


def test_a_subagent_is_linked_to_the_call_that_began_it():
    fields = "session_id parent_session_id relation tool_call_id"
    link = (PARENT, ME, "subagent", "c1")
    child = {"event_id": "c1", "agent_thread_id": PARENT}
    spawned = event("collab_agent_spawn_end", call_id="c1", new_thread_id=PARENT)
    assert only(spawned, fields) == link
    assert only(event("sub_agent_activity", kind="started", **child), fields) == link
    assert facts(event("sub_agent_activity", kind="interacted", **child)) == []


# --- turns and tokens


def test_turns_name_the_model_begin_and_end():
    said = {"turn_id": "t1", "cwd": "/w", "model": "m", "summary": "auto"}
    context = line("turn_context", said, ordinal=3)
    fields = "kind turn_id model cwd ordinal"
    assert only(context, fields) == ("context", "t1", "m", "/w", 3)
    for kind in ("task_started", "turn_started"):
        begun = only(event(kind, turn_id="t1"), "kind turn_id model began_at")
        assert begun == ("started", "t1", None, AT)
    for kind in ("task_complete", "turn_complete", "turn_aborted"):
        assert only(event(kind, turn_id="t1"), "kind turn_id") == ("ended", "t1")
    typed = event("user_message", message="hi", images=[])
    assert only(typed, "kind turn_id") == ("user_message", None)


def test_a_model_may_be_told_by_its_slug():
    told = {"turn_id": "t1", "model_info": {"slug": "m", "display_name": "M"}}
    assert only(line("turn_context", told), "model") == "m"
    assert only(line("turn_context", told | {"model": "n"}), "model") == "n"


def test_settings_are_a_context_when_they_name_a_model():
    applied = event("thread_settings_applied", thread_settings={"model": "m"})
    assert only(applied, "kind model") == ("context", "m")
    assert facts(event("thread_settings_applied", thread_settings={})) == []


@pytest.mark.parametrize(
    ("changes", "tokens"),
    [
        ({}, (600, 900, 0, 80, 20)),
        ({"cache_write_input_tokens": 500}, (100, 900, 500, 80, 20)),
        ({"cache_write_input_tokens": 700}, (0, 900, 700, 80, 20)),
        ({"cached_input_tokens": 2000}, (0, 1500, 0, 80, 20)),
        ({"total_tokens": 1600}, (600, 900, 0, 100, 20)),
        ({"reasoning_output_tokens": 0}, (600, 900, 0, 80, 0)),
    ],
)
def test_prompt_parts_become_disjoint_and_output_includes_reasoning(changes, tokens):
    assert only(counter(COUNTS | changes), TOKENS) == tokens
    assert only(usage_record(COUNTS | changes), TOKENS) == tokens


def test_a_counter_shows_the_last_request_and_the_running_total():
    both = counter(COUNTS, COUNTS | {"output_tokens": 180})
    said = ("counter", "1500/900/0/180/20/1580", AT, None)
    assert only(both, "kind counter called_at model") == said
    totals = " ".join(f"total_{name}" for name in TOKENS.split())
    assert only(counter(None, COUNTS), totals) == (600, 900, 0, 80, 20)
    assert only(counter(None, COUNTS), TOKENS) == (None,) * 5
    assert only(counter(COUNTS), f"counter {totals}") == (None,) * 6


def test_a_count_written_as_a_float_and_a_time_as_a_number_are_understood():
    odd = counter(COUNTS | {"output_tokens": 80.0})
    for at in (int(AT.timestamp()), AT.timestamp() * 1000):
        found = only(odd | {"timestamp": at}, "output_tokens called_at")
        assert found == (80, AT)


def test_a_rate_limit_alone_is_no_usage_but_zeros_are():
    assert facts(event("token_count", info=None)) == facts(counter()) == []
    zeros = dict.fromkeys(COUNTS, 0) | {"total_tokens": 400}
    assert only(counter(zeros), TOKENS) == (0,) * 5


def test_a_record_is_one_response_and_its_mirror_is_none():
    record = usage_record(COUNTS, response_id="r1", thread_token_usage=COUNTS)
    said = (ME, "response", "t1", "r1")
    assert only(record, "session_id kind turn_id request_id") == said
    assert only(usage_record(COUNTS, response_id=""), "request_id") is None
    mirror = {"message": "", "latest_token_usage_record": record["payload"]}
    assert kinds(line("compacted", mirror)) == "Compaction"


# --- messages


AGENTS, NOTE = "# AGENTS.md instructions", "subagent_notification"


@pytest.mark.parametrize(
    ("role", "text", "said"),
    [
        ("assistant", "done", "assistant response"),
        ("user", "fix build", "user prompt"),
        ("user", "why <skill> here?", "user prompt"),
        ("user", "<skill> is a tag, is it not?", "user prompt"),
        ("user", "<user_instructions>", "user prompt"),
        ("user", f"{AGENTS} for /w\n<INSTRUCTIONS></INSTRUCTIONS>", "user meta"),
        ("user", "\n <environment_context>\n</environment_context>", "user meta"),
        ("user", "<user_instructions>\n</user_instructions>\n", "user meta"),
        ("user", '<external_browser-tab kind="x"></external_x>', "user meta"),
        ("user", '<hook_prompt hook_run_id="h">go</hook_prompt>', "user meta"),
        ("user", f"<{NOTE.upper()}>{{}}</{NOTE}>", "user meta"),
        ("developer", "be brief", "system meta"),
        ("system", "be brief", "system meta"),
    ],
)
def test_only_what_a_human_typed_is_a_prompt(role, text, said):
    found, block = facts(message(role, text))
    assert (f"{found.role} {found.kind}", block.text) == (said, text)


def test_a_message_is_injected_when_every_part_of_it_is():
    put_in = "<environment_context></environment_context>"
    assert facts(message("user", put_in, put_in))[0].kind == "meta"
    assert facts(message("user", put_in, "more"))[0].kind == "prompt"
    assert facts(item("message", role="user", content=[]))[0].kind == "prompt"


def test_what_another_agent_said_is_no_prompt_and_says_who_spoke():
    sealed = [{"type": "encrypted_content", "encrypted_content": "gAAAAB0"}]
    plain = [{"type": "encrypted_content", "encrypted_content": "Look at it."}]
    content = [*parts("A task."), *sealed, *plain]
    said = {"author": "/root", "recipient": "/root/a", "content": content}
    found, *blocks = facts(item("agent_message", **said))
    assert (found.role, found.kind, found.label) == ("user", "meta", "/root")
    texts = [("text", "A task."), ("other", None), ("text", "Look at it.")]
    assert [(block.type, block.text) for block in blocks] == texts


def test_a_message_has_its_parts_as_blocks():
    content = [*parts("see"), {"type": "input_image"}, {"type": "new"}]
    _, *blocks = facts(item("message", role="user", content=content))
    said = [(0, "text", "see"), (1, "image", None), (2, "other", None)]
    assert [(b.block_index, b.type, b.text) for b in blocks] == said


def test_a_message_without_id_is_named_by_what_it_says_and_when():
    def name(data, **stream):
        return facts(data, **stream)[0].message_id

    plain = message("user", "fix build")
    later = plain | {"timestamp": "2026-10-01T09:00:21Z"}
    assert name(plain).startswith(f"{ME}:")
    assert name(plain) == name(plain | {"ordinal": 4}, record_key="moved")
    assert len({name(plain), name(later), name(message("assistant", "fix build"))}) == 3
    assert name(item("message", id="msg_1", role="user", content=[])) == "msg_1"


def test_a_message_of_the_newest_versions_knows_its_turn():
    beside = {"internal_chat_message_metadata_passthrough": {"turn_id": "t1"}}
    assert only(item("message", role="user", **beside), "turn_id") == "t1"


def test_reasoning_is_a_thinking_block_even_when_it_is_sealed():
    open_ = item("reasoning", summary=parts("one", "two"), content=None)
    sealed = item("reasoning", summary=[], encrypted_content="x")
    for data, text in ((open_, "one\ntwo"), (sealed, None)):
        found, block = facts(data)
        assert (found.role, found.kind) == ("assistant", "thinking")
        assert (block.type, block.text) == ("thinking", text)


def test_a_compaction_has_its_summary_as_a_message():
    history = [message("user", "x")["payload"]]
    data = line("compacted", {"message": "so far", "replacement_history": history})
    compaction, summary, block = facts(data)
    assert compaction.compaction_id == summary.message_id
    assert (compaction.compacted_at, summary.role) == (AT, "user")
    assert (summary.kind, block.text) == ("compaction_summary", "so far")


def test_an_error_is_a_message():
    found, block = facts(event("error", message="limit", codex_error_info="x"))
    assert (found.role, found.kind, block.text) == ("system", "error", "limit")


def test_a_text_that_stands_twice_is_taken_once():
    assert facts(event("agent_message", message="done")) == []
    assert kinds(event("user_message", message="fix build")) == "Turn"


# --- tools


@pytest.mark.parametrize(
    ("type_", "fields", "name", "given"),
    [
        ("function_call", {"name": "f", "arguments": '{"a": 1}'}, "f", '{"a": 1}'),
        ("function_call", {"name": "f", "arguments": "cut {"}, "f", '"cut {"'),
        ("function_call", {"name": "f", "namespace": "ci"}, "ci.f", None),
        ("custom_tool_call", {"name": "patch", "input": "***"}, "patch", '"***"'),
        ("custom_tool_call", {"name": "js", "input": "1"}, "js", '"1"'),
        ("local_shell_call", {"action": {"a": 1}}, "local_shell", '{"a":1}'),
        ("web_search_call", {"action": {"a": 1}}, "web_search", '{"a":1}'),
        ("tool_search_call", {"arguments": {"a": 1}}, "tool_search", '{"a":1}'),
        ("image_generation_call", {"result": "aGk="}, "image_generation", None),
    ],
)
def test_a_call_has_its_name_and_its_input_as_json(type_, fields, name, given):
    call = item(type_, call_id="c1", **fields)
    said = ("c1", f"{ME}:c1", name, given, AT)
    assert only(call, "tool_call_id message_id name input called_at") == said
    named = item(type_, call_id="c1", id="fc_1", **fields)
    assert only(named, "tool_call_id message_id") == ("c1", "fc_1")


def test_a_web_search_has_no_output_and_ends_in_its_own_line():
    call, result = facts(item("web_search_call", id="ws_1", status="completed"))
    assert call.tool_call_id == result.tool_call_id == "ws_1"
    assert (result.is_error, result.finished_at) == (False, AT)
    call, result = facts(item("web_search_call", status="completed"))
    assert call.tool_call_id == call.message_id == result.tool_call_id
    end = event(
        "web_search_end", call_id="ws_1", query="", action={"type": "open_page"}
    )
    assert only(end, "tool_call_id is_error") == ("ws_1", None)


OLD = '{"output":"no","metadata":{"exit_code":%d,"duration_seconds":0.25}}'
RAN = "Chunk ID: a\nWall time: 1 seconds\nProcess exited with code %d\nOutput:\n"
IMAGE = {"type": "input_image"}


@pytest.mark.parametrize(
    ("output", "text", "is_error", "duration_ms"),
    [
        ("ok", "ok", False, None),
        ("Exit code: 0\nOutput:", "Exit code: 0\nOutput:", False, None),
        ("Exit code: 1", "Exit code: 1", True, None),
        ("it said Exit code: 1", "it said Exit code: 1", False, None),
        (RAN % 0, RAN % 0, False, None),
        (RAN % 2, RAN % 2, True, None),
        (OLD % 0, "no", False, 250),
        (OLD % 1, "no", True, 250),
        ('{"output":"plain json"}', '{"output":"plain json"}', False, None),
        ('{"cut', '{"cut', False, None),
        ([*parts("a"), IMAGE, *parts("b")], "a\nb", False, None),
        ([IMAGE], None, False, None),
        ({"content": "gone", "success": False}, "gone", True, None),
        ({"content": parts("fine"), "success": True}, "fine", False, None),
        (None, None, False, None),
    ],
)
@pytest.mark.parametrize("kind", ["function_call_output", "custom_tool_call_output"])
def test_an_output_of_any_age_has_its_text_and_its_end(
    kind, output, text, is_error, duration_ms
):
    answer = item(kind, call_id="c1", output=output)
    said = (text, is_error, duration_ms, AT)
    assert only(answer, "text is_error duration_ms finished_at") == said


@pytest.mark.parametrize(
    ("text", "is_error"),
    [
        ("apply_patch verification failed: Failed to find expected lines", True),
        ("exec_command failed for `make`: CreateProcess { message: ... }", True),
        ("write_stdin failed: Unknown process id 7", True),
        ("failed in sandbox LinuxSeccomp with execution error: Denied", True),
        ("command failed in sandbox", True),
        ("exec command rejected by user", True),
        ("patch rejected by user", True),
        ("rejected by user approval settings", True),
        ("user rejected MCP tool call", True),
        ("aborted by user after 3.2s", True),
        ("Script failed\nWall time 0.1 seconds\nOutput:\nError: no", True),
        ("unsupported call: shell", True),
        ("Script completed\nWall time 0.1 seconds\nOutput:\nScript failed", False),
        (RAN % 0 + "apply_patch verification failed: an old log", False),
        ("3 of 9 changes were rejected by user Ada", False),
        ("Scripts failed: 0", False),
    ],
)
def test_some_failures_are_told_in_words_only(text, is_error):
    answer = item("function_call_output", call_id="c1", output=text)
    assert only(answer, "text is_error") == (text, is_error)


@pytest.mark.parametrize(
    ("kind", "fields", "is_error"),
    [
        ("exec_command_end", {"exit_code": 0, "source": "agent"}, False),
        ("exec_command_end", {"exit_code": 127}, True),
        ("patch_apply_end", {"success": False}, True),
        ("mcp_tool_call_end", {"result": {"Ok": {"content": []}}}, False),
        ("mcp_tool_call_end", {"result": {"Ok": {"isError": True}}}, True),
        ("mcp_tool_call_end", {"result": {"Err": "gone"}}, True),
        ("mcp_tool_call_end", {"duration": "1s"}, None),
    ],
)
def test_an_end_event_knows_how_the_call_ended_but_no_text(kind, fields, is_error):
    found = only(event(kind, call_id="c1", **fields), "tool_call_id text is_error")
    assert found == ("c1", None, is_error)


def test_an_end_event_knows_how_long_the_call_took():
    took = event(
        "exec_command_end", call_id="c1", duration={"secs": 1, "nanos": 5000000}
    )
    assert only(took, "duration_ms") == 1005


# --- the first generation, and damage


def test_the_first_generation_has_bare_lines():
    header = {"id": ME, "timestamp": "2025-05-09T10:00:00Z", "git": {"branch": "main"}}
    began = datetime(2025, 5, 9, 10, tzinfo=UTC)
    assert only(header, "git_branch started_at") == ("main", began)
    bare = message("user", "continue")["payload"]
    assert kinds(bare) == "Message Block"
    assert facts(bare)[0].message_id != facts(bare, record_key="k2")[0].message_id
    assert facts({"record_type": "state"}) == []


def test_the_typescript_rollout_is_one_document():
    go = message("user", "go")["payload"]
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    whole = {"session": {"id": ME}, "items": [go, go, call]}
    named = "Session Message Block Message Block ToolCall"
    assert kinds(whole, reader="document") == named
    _, first, _, second, *_ = facts(whole, reader="document")
    assert first.message_id != second.message_id


@pytest.mark.parametrize("kind", sorted(IGNORED))
def test_kinds_that_are_ignored_give_neither_facts_nor_rejects(kind):
    assert kind not in codex.MAKE
    odd = {"type": kind, "message": {"not": "text"}, "usage": 1, "id": [2]}
    for data in (*(line(of, odd) for of in (kind, "response_item", "event_msg")), odd):
        assert read(data) == ([], [])


def test_kinds_that_nobody_knows_are_named():
    odd = {"type": "new", "usage": {"output_tokens": 1}}
    for of in ("response_item", "event_msg"):
        assert read(line(of, odd)) == ([], [Unknown(f"{of} new")])
    assert read(line("new", odd)) == ([], [Unknown("line new")])
    assert read(odd) == ([], [Unknown("line new")])
    _, rejects = read({"session": {"id": ME}, "items": [odd]}, reader="document")
    assert rejects == [Unknown("item new")]


@pytest.mark.parametrize("data", [b"[]", b"5", b"null", b'{"a":', b"version https://"])
def test_what_is_no_object_is_a_reject(data):
    found, rejects = read(data)
    assert (found, len(rejects)) == ([], 1)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (line("response_item", "text"), "payload"),
        (line("token_usage_record", {}), "without usage"),
        (line("session_meta", {"cwd": "/w"}), "without id"),
        (item("function_call_output", output="ok"), "without call_id"),
    ],
)
def test_a_line_that_lacks_what_makes_it_is_a_reject(data, named):
    found, (reject,) = read(data)
    assert found == []
    assert named in reject.reason


def test_an_odd_field_does_not_cost_the_tokens():
    odd = COUNTS | {"cached_input_tokens": "12k"}
    (usage,), (reject,) = read(counter(odd, COUNTS))
    assert (usage.output_tokens, usage.counter) == (80, "1500/900/0/80/20/1580")
    assert "cached_input_tokens" in reject.reason


LINES = [
    meta(timestamp="2026-10-01T09:00:00Z", source=spawn(), git={"branch": "main"}),
    line("turn_context", {"turn_id": "t1", "cwd": "/w", "model": "m"}, ordinal=1),
    counter(COUNTS, COUNTS),
    usage_record(COUNTS, response_id="r1"),
    line("compacted", {"message": "so far"}),
    message("user", "fix build"),
    item("reasoning", summary=parts("hm")),
    item("function_call", name="f", arguments='{"a":1}', call_id="c1"),
    item("web_search_call", status="completed", action={"query": "q"}),
    item("function_call_output", call_id="c1", output=OLD % 1),
    item("function_call_output", call_id="c1", output=parts("x")),
    event("mcp_tool_call_end", call_id="c1", result={"Ok": {"isError": False}}),
    event("exec_command_end", call_id="c1", duration={"secs": 1, "nanos": 2}),
    event("error", message="limit"),
    message("user", "continue")["payload"],
]


@given(st.data(), st.sampled_from(LINES), ANYTHING)
def test_a_damaged_line_is_facts_or_rejects_and_never_a_crash(data, whole, anything):
    are_facts_or_rejects(*read(spoiled(data, whole, anything)))
