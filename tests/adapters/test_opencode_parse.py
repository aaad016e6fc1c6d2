"""OpenCode's family: what its golden homes do not show."""

import json
import sqlite3

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import CASES, aged, plans

from agentlake.adapters import kilo_cli, opencode, zcode
from agentlake.adapters.sdk.conformance import everything, streams_of
from agentlake.adapters.sdk.contract import Record, Stream
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.sdk.run import facts_of
from agentlake.models.compaction import Compaction
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.usage import Usage

ADAPTERS = {"opencode": opencode, "kilo_cli": kilo_cli, "zcode": zcode}
AT = 1_790_000_000_000


def row(table, data, key="ses_1/it_1", adapter=opencode, **columns):
    """The facts of one row, whose `data` is JSON text, as the reader gives it."""
    session, _, id_ = key.rpartition("/")
    columns = {"id": id_, "session_id": session, "time_created": AT} | columns
    if data is not None:
        columns["data"] = data if isinstance(data, str) else json.dumps(data)
    stream = Stream(path="/x/it.db", key="/x/it.db", reader="sqlite")
    raw = json.dumps(columns).encode()
    return facts_of(adapter, Record(stream, 7, 0, f"{table}/{key}", raw))


def only(kind, found):
    facts, rejects = found
    assert rejects == []
    (one,) = (fact for fact in facts if isinstance(fact, kind))
    return one


# -- where


def test_a_database_is_found_by_its_channel_and_nothing_beside_it(tmp_path):
    found = ["opencode-dev.db", "opencode-pr-7.1.db", "opencode.db"]
    beside = ["opencode.db-wal", "opencode.db.bak", "opencode-dev.db-journal", "log.db"]
    for name in [*found, *beside]:
        (tmp_path / name).touch()
    (tmp_path / "opencode-folder.db").mkdir()
    streams = streams_of(opencode, tmp_path)
    assert [one.path for one in streams] == [str(tmp_path / name) for name in found]


@pytest.mark.parametrize("adapter", [opencode, zcode])
def test_a_database_may_have_any_name_when_it_is_the_root_itself(adapter, tmp_path):
    file = tmp_path / "mine.sqlite3"
    file.touch()
    assert [one.path for one in streams_of(adapter, file)] == [str(file)]


@pytest.mark.parametrize("adapter", ADAPTERS.values())
def test_tables_with_secrets_are_not_named(adapter):
    stream = Stream(path="x.db", key="x.db", reader="sqlite")
    tables = {table.name: table for table in adapter.tables(stream)}
    secret = {
        "account",
        "credential",
        "control_account",
        "session_share",
        "account_state",
    }
    assert not secret & set(tables)
    if adapter is not zcode:
        assert "share_url" in tables["session"].without
        assert "share_url" in tables["session_v2"].without


def test_two_sources_of_one_format_share_no_file():
    roots = [root.default for one in ADAPTERS.values() for root in one.ROOTS]
    places = [place for default in roots for place in default]
    assert len(places) == len(set(places))


def test_a_file_caught_half_written_is_read_when_it_is_whole(lake):
    folder = lake.home / ".local/share/opencode/storage/message/ses_1"
    folder.mkdir(parents=True)
    file = folder / "msg_1.json"
    tokens = {"input": 5, "output": 7}
    time = {"created": AT, "completed": AT + 9}
    text = json.dumps({"role": "assistant", "tokens": tokens, "time": time})
    file.write_text(text[:40])
    with pytest.raises(Unreadable):
        list(opencode.explode(Stream(path="x", key="message/s/m"), text[:40].encode()))
    report = lake.load(plans(lake.home))
    assert not report.complete
    file.write_text(text)
    aged(file)
    assert lake.load(plans(lake.home)).complete
    assert lake.rows("select input_tokens, output_tokens from core.usage") == [(5, 7)]


# -- what a record says


@pytest.mark.parametrize(
    ("title", "said", "agent"),
    [
        ("New session - 2026-09-21T14:13:20.000Z", None, None),
        ("Child session - 2026-09-21T14:13:20.000Z", None, None),
        ("New session - of tea", "New session - of tea", None),
        ("Count (@general subagent)", "Count (@general subagent)", "general"),
        ("", None, None),
    ],
)
def test_the_title_of_a_session(title, said, agent):
    found = row("session", None, "ses_1", id="ses_1", title=title, parent_id="ses_0")
    one = only(Session, found)
    assert (one.title, one.agent_type, one.relation) == (said, agent, "subagent")


@pytest.mark.parametrize("title", ["Tea (fork #1)", "Tea (fork #12)"])
def test_a_fork_of_the_first_tables_is_told_by_its_title(title):
    one = only(Session, row("session", None, "ses_1", id="ses_1", title=title))
    assert (one.relation, one.parent_session_id) == ("fork", None)


@pytest.mark.parametrize(
    ("version", "output"), [("2.0.1", 70), ("1.18.0", 70), ("1.2.27", 50), (None, 70)]
)
def test_a_total_counts_as_the_version_did_that_began_it(version, output):
    """A session that 2.0 took over has the sums that the older version made."""
    counted = {"tokens_input": 1, "tokens_output": 50, "tokens_reasoning": 20}
    found = row("session_v2", None, "ses_1", id="ses_1", version=version, **counted)
    one = only(Usage, found)
    assert (one.kind, one.output_tokens, one.scope) == ("scope_total", output, "ses_1")


def test_a_session_that_has_counted_nothing_has_no_total():
    facts, _ = row("session_v2", None, "ses_1", id="ses_1", tokens_input=0)
    assert not any(isinstance(fact, Usage) for fact in facts)


@pytest.mark.parametrize(
    ("error", "calls"), [("MessageAbortedError", 0), ("APIError", 0), (None, 1)]
)
def test_what_was_stopped_before_its_first_step_cost_nothing_that_is_known(
    error, calls
):
    data = {"role": "assistant", "tokens": {"input": 0, "output": 0}}
    data["time"] = {"created": AT, "completed": AT + 1}
    if error:
        data["error"] = {"name": error}
    facts, _ = row("message", data)
    assert sum(isinstance(fact, Usage) for fact in facts) == calls


def test_copies_of_a_reply_have_one_key_and_others_do_not():
    def key(id_, **more):
        data = {"role": "assistant", "modelID": "gpt-5", "agent": "build"}
        data |= {"tokens": {"input": 1, "output": 2}, "cost": 0.1}
        data |= {"time": {"created": AT, "completed": AT + 1}, "parentID": id_} | more
        return only(Usage, row("message", data, f"ses_{id_}/msg_{id_}")).usage_key

    assert key("1") == key("2")
    others = {
        key("1", modelID="gpt-4"),
        key("1", agent="plan"),
        key("1", cost=0.2),
        key("1", time={"created": AT + 1, "completed": AT + 1}),
        key("1", time={"created": AT, "completed": AT + 2}),
        key("1", tokens={"input": 1, "output": 3}),
    }
    assert len(others | {key("1")}) == 7


@pytest.mark.parametrize(
    ("status", "compactions"), [("running", 0), ("completed", 1), (None, 1)]
)
def test_a_compaction_of_the_second_tables_counts_when_it_has_ended(
    status, compactions
):
    data = {"reason": "auto", "status": status, "summary": "so far"}
    facts, _ = row("session_message", data, type="compaction", seq=3)
    assert sum(isinstance(fact, Compaction) for fact in facts) == compactions


@pytest.mark.parametrize(
    ("total", "given"), [(1050, 100), (1950, 1000), (None, 100), (1049, 100)]
)
def test_zcode_input_includes_the_cache_unless_the_total_says_otherwise(total, given):
    counted = {"input_tokens": 1000, "output_tokens": 50, "status": "completed"}
    counted |= {"cache_read_input_tokens": 900, "provider_total_tokens": total}
    one = only(Usage, row("model_usage", None, adapter=zcode, **counted))
    assert (one.input_tokens, one.cache_read_tokens) == (given, 900)


def test_the_time_of_a_message_is_its_own_and_else_that_of_its_row():
    for data, at in (({"created": AT + 5}, AT + 5), ({}, AT)):
        one = only(Message, row("message", {"role": "user", "time": data}))
        assert one.sent_at.timestamp() * 1000 == at


# -- damage


def _records():
    for case in CASES:
        if adapter := ADAPTERS.get(case.source):
            for plan in plans(case.home):
                if plan.adapter is adapter:
                    for root in plan.roots:
                        for record, *_ in everything(
                            adapter, streams_of(adapter, root)
                        ):
                            yield adapter, record


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


def places(value, path=()):
    """The path of everything within a value."""
    if path:
        yield path
    if isinstance(value, dict | list):
        steps = value if isinstance(value, dict) else range(len(value))
        for step in steps:
            yield from places(value[step], (*path, step))


@given(st.data(), ANYTHING)
def test_a_damaged_record_is_facts_or_rejects_and_never_a_crash(
    records, data, anything
):
    adapter, record = data.draw(st.sampled_from(records))
    whole = json.loads(record.data)
    inner = json.loads(whole["data"]) if _is_json(whole.get("data")) else None
    target = inner if inner and data.draw(st.booleans()) else whole
    if not (spots := list(places(target))):
        return
    *steps, last = data.draw(st.sampled_from(spots))
    spot = target
    for step in steps:
        spot = spot[step]
    spot[last] = anything
    if target is inner:
        whole["data"] = json.dumps(inner)
    damaged = msgspec.structs.replace(record, data=json.dumps(whole).encode())
    found, rejects = facts_of(adapter, damaged)
    assert not any("in parse" in reject.reason for reject in rejects)
    for fact in found:  # every field is of its type
        msgspec.convert(msgspec.structs.asdict(fact), type(fact))


def _is_json(text):
    try:
        return isinstance(json.loads(text), dict)
    except (TypeError, ValueError):
        return False


@pytest.fixture(scope="module")
def records():
    found = list(_records())
    assert {record.key.partition("/")[0] for _, record in found} >= {
        "session", "message", "part", "session_v2", "session_message", "event",
        "model_usage", "session_task_link",
    }  # fmt: skip
    return found


# -- what the selection adds to a message


def test_a_message_is_selected_with_what_its_parts_say(tmp_path):
    stream = Stream(path="x.db", key="x.db", reader="sqlite")
    (table,) = (one for one in opencode.tables(stream) if one.name == "message")
    database = sqlite3.connect(tmp_path / "x.db")
    database.executescript(
        """
        create table session (id, version);
        create table message (id, session_id, data);
        create table part (id, message_id, data);
        insert into session values ('s', '1.4.0');
        insert into message values
        ('m', 's', '{"role":"user","summary":{"title":"t","diffs":["huge"]}}'),
        ('x', 's', 'no JSON');
        insert into part values
        ('2', 'm', '{"type":"compaction","auto":true}'), ('3', 'm', 'no JSON'),
        ('1', 'm', '{"type":"text","text":"\\"step-finish\\"","synthetic":true}')
        """
    )
    rows = database.execute(f"select {table.instead['data']} from message").fetchall()
    database.close()
    (first,), (second,) = rows
    assert json.loads(first) == {
        "role": "user",
        "summary": {"title": "t"},
        "version": "1.4.0",
        "parts": [
            {"type": "text", "synthetic": True},
            {"type": "compaction", "auto": True},
        ],
    }
    assert second == "no JSON"
