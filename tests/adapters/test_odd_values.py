"""One odd value anywhere costs its record: not its stream, and no other call."""

import json
import shutil
import sqlite3
from datetime import UTC, datetime, timedelta, timezone

import pytest
from support.cases import CASES, plans

from agentlake.adapters.registry import adapters
from agentlake.adapters.sdk.conformance import everything, streams_of
from agentlake.adapters.sdk.contract import Keyed, Record, Stream
from agentlake.adapters.sdk.decode import Unreadable, untyped
from agentlake.adapters.sdk.moments import moment
from agentlake.adapters.sdk.readers.sound import sound
from agentlake.adapters.sdk.readers.sqlite import place
from agentlake.adapters.sdk.values import one_step, unstepped
from agentlake.models.usage import Usage
from agentlake.pipelines.ingest.batch import Batch, Origin


def copy_of(source, name, to):
    (case,) = [one for one in CASES if one.id == f"{source}/{name}"]
    shutil.copytree(case.home, to, copy_function=shutil.copy)
    return to


def calls(home, source):
    """The tokens of all usage that the source tells of, and its rejects."""
    (plan,) = [one for one in plans(home) if one.adapter is adapters()[source]]
    found = [
        one
        for root in plan.roots
        for one in everything(plan.adapter, streams_of(plan.adapter, root))
    ]
    usage = [it for _, facts, _ in found for it in facts if isinstance(it, Usage)]
    rejects = [it.reason for _, _, rejects in found for it in rejects]
    assert not [reason for reason in rejects if "in parse" in reason]
    return sorted(
        (it.input_tokens or 0, it.output_tokens or 0) for it in usage
    ), rejects


@pytest.mark.parametrize(
    "odd", [[1], {}, True, "2026-01-01T00:00:00", "x", 1e300, None]
)
def test_an_odd_time_in_a_list_of_messages(tmp_path, odd):
    home = copy_of("cline_family", "models_in_other_files", tmp_path / "home")
    before, _ = calls(home, "cline_family")
    (file,) = home.rglob("roo/ui_messages.json")
    messages = json.loads(file.read_bytes())
    messages[0]["ts"] = odd
    file.write_text(json.dumps(messages))
    assert calls(home, "cline_family")[0] == before


@pytest.mark.parametrize("odd", ["9e999", "-9e999", "'x'", "x'ff00'", "1e300"])
def test_an_odd_time_in_a_row(tmp_path, odd):
    """Others of its table are read, and so is the remainder of the row."""
    home = copy_of("opencode", "steps", tmp_path / "home")
    before, rejects_before = calls(home, "opencode")
    (file,) = home.rglob("opencode.db")
    with sqlite3.connect(file) as database:
        database.execute(
            f"update message set time_created = {odd}"
            " where id = (select max(id) from message)"
        )
    database.close()
    after, rejects = calls(home, "opencode")
    assert after == before
    assert rejects != rejects_before


def batch_of(fact):
    stream = Stream(path="x", key="x")
    batch = Batch("claude_code")
    record = Record(stream, 0, 0, "k", b"{}")
    batch.add(record, Origin(1, 0, "k"), [fact], [])
    return batch


@pytest.mark.parametrize(
    ("year", "is_odd"), [(1, True), (1969, True), (1970, False), (2199, False)]
)
def test_a_time_at_the_edge_of_all_times_costs_itself(year, is_odd):
    zone = timezone(timedelta(hours=-23, minutes=-59))
    at = datetime(year, 12, 31, 23, 59, 59, 999_999, zone)
    batch = batch_of(Usage(session_id="s", called_at=at, output_tokens=5))
    rows = batch.tables(1)["staging.usage"]
    assert rows["output_tokens"].to_pylist() == [5]
    assert (rows["called_at"].null_count, batch.rejects) == (is_odd, is_odd)


def test_the_last_time_there_is_is_no_time_of_an_agent():
    batch = batch_of(
        Usage(
            session_id="s", called_at=datetime.max.replace(tzinfo=UTC), input_tokens=1
        )
    )
    assert batch.tables(1)["staging.usage"]["called_at"].null_count == 1


@pytest.mark.parametrize("odd", [True, 5, ["x"], {"a": 1}, "\ud800", "a/b", "%2F"])
@pytest.mark.parametrize(
    "place",
    [
        "gemini_cli/document_to_log/*.jsonl/sessionId",
        "amp/ledger_and_messages/T-*.json/id",
        "vscode_copilot/tokens_of_requests/old.json/sessionId",
    ],
)
def test_an_odd_id_of_a_session_costs_no_call(tmp_path, odd, place):
    source, name, file, spot = place.split("/")
    home = copy_of(source, name, tmp_path / "home")
    before, _ = calls(home, source)
    path = sorted(home.rglob(file))[0]
    lines = path.read_text().splitlines()
    first, more = (lines[0], lines[1:]) if file == "*.jsonl" else (path.read_text(), [])
    whole = json.loads(first)
    whole[spot] = odd
    path.write_text("\n".join([json.dumps(whole), *more]) + "\n")
    assert calls(home, source)[0] == before


@pytest.mark.parametrize("depth", [300, 3_000, 100_000])
def test_a_value_too_deep_to_walk_costs_itself(depth):
    deep = b"[" * depth + b'"]"' + b"]" * depth
    value = untyped(b'{"a": {"b": ' + deep + b'}, "c": "x]]{", "d": [1, {"e": 2}]}')
    assert (value["c"], value["d"]) == ("x]]{", [1, {"e": 2}])
    with pytest.raises(Unreadable):
        untyped(b"[" * depth)


def test_keys_and_places_are_made_sound():
    for key in (True, None, 5, ["a"], {"a": 1}, "\ud800", "a\ud800"):
        made = sound(Keyed(key, b"x"))
        assert made.key.encode().decode() == made.key
    for seq in (True, -1, 0.5, 1 << 41, "1", float("inf")):
        assert sound(Keyed("k", b"x", seq)).seq is None
    plain = Keyed("k", b"x", 7)
    assert sound(plain) is plain
    for order in (float("inf"), float("nan"), -1, "2026", b"x", None):
        assert place(order) is None


def test_times_and_steps_are_total():
    for odd in (True, [1], {}, float("nan"), float("inf"), 1e300, -5, "x", b"x", None):
        assert moment(odd) is None
    assert moment("2026-01-01T00:00:00").isoformat() == "2026-01-01T00:00:00+00:00"
    for name in ("a", "a/b", "%2F", "%252F/%", ""):
        assert unstepped(one_step(name)) == name
        assert "/" not in one_step(name)


def test_an_empty_file_is_nothing(tmp_path, case):
    """What is being made, or was left when the disk was full."""
    for path in case.home.rglob("*"):
        if path.is_file():
            to = tmp_path / path.relative_to(case.home)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.touch()
    assert calls(tmp_path, case.source) == ([], [])
