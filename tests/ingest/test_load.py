"""Load: never lose, never double, whatever happens to the files and to the loader."""

import os
import random
import shutil
import socket
import subprocess
import sys

import pytest
from backports import zstd
from support.cases import CASES, aged, copied, plans
from support.transcripts import SESSION, Disk, lines, rollout, row
from support.warehouses import is_consistent, refreshed, same, tables

from agentlake.adapters.sdk.readers import jsonl
from agentlake.pipelines.ingest.checkpoint import stream_id
from agentlake.pipelines.ingest.listing import SourcePlan, list_streams
from agentlake.pipelines.ingest.loader import load
from agentlake.pipelines.warehouse.connect import BusyError


@pytest.fixture
def disk(lake):
    return Disk(lake.home)


def quick(lake, **more):
    """A load without the models, which most of these tests do not ask."""
    return lake.load(fresh=False, **more)


def messages(lake):
    return [
        number
        for (number,) in lake.rows(
            "select distinct message_id[5:]::int from staging.messages order by all"
        )
    ]


def raw_rows(lake, source="claude_code"):
    return lake.one(f"select count(*) from raw.{source}")


def stream(lake, columns, source="claude_code"):
    (found,) = lake.rows(
        f"select {columns} from meta.streams where source = '{source}'"
    )
    return found


# -- load twice = load once


@pytest.mark.slow
def test_a_second_load_finds_nothing_and_writes_nothing(lake):
    for case in CASES[::7]:
        for path in copied(case, lake.home / case.id).rglob("*"):
            aged(path)  # a database just written is read once more
    now = [
        SourcePlan(
            adapter=plan.adapter,
            roots=[
                root
                for case in CASES[::7]
                for root in next(
                    p.roots
                    for p in plans(lake.home / case.id)
                    if p.adapter is plan.adapter
                )
            ],
        )
        for plan in plans(lake.home)
    ]
    connection = lake.connection
    first = load(connection, now, refresh=refreshed)
    before = tables(connection, "raw", "staging", "meta", "core")
    second = load(connection, now, refresh=refreshed)
    after = tables(connection, "raw", "staging", "meta", "core")
    assert first.wrote
    assert (second.wrote, second.total("read"), second.total("records")) == (
        False,
        0,
        0,
    )
    same(before, after)
    lake.close()
    bytes_before = lake.path.read_bytes()
    lake.load(now)
    lake.close()
    assert lake.path.read_bytes() == bytes_before


def test_a_file_that_looks_as_before_is_not_opened(lake, disk):
    disk.write(lines(1, 2))
    quick(lake)
    status = disk.session.stat()
    disk.write(lines(3, 4))  # same size; put its time back
    os.utime(disk.session, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert quick(lake).total("read") == 0
    assert messages(lake) == [1, 2]


# -- files that grow, shrink, and change


def test_what_is_appended_is_read_and_nothing_else(lake, disk):
    disk.write(lines(1, 2))
    quick(lake)
    disk.append(lines(3))
    report = quick(lake)
    assert (report.total("read"), report.total("records")) == (1, 1)
    assert lake.rows("select seq, byte_offset from raw.claude_code order by seq") == [
        (0, 0),
        (1, len(lines(1))),
        (2, len(lines(1, 2))),
    ]


def test_a_half_written_line_waits_for_its_end(lake, disk):
    disk.write(lines(1) + row(2)[:40])
    quick(lake)
    assert stream(lake, "status, records") == ("waiting", 1)
    disk.append(row(2)[40:])
    quick(lake)
    assert messages(lake) == [1]
    disk.append(b"\n" + lines(3))
    quick(lake)
    assert messages(lake) == [1, 2, 3]
    assert stream(lake, "status, records, generation") == ("loaded", 3, 0)
    assert lake.rows("select reason from meta.rejects") == []


def test_a_file_that_was_truncated_keeps_its_rows(lake, disk):
    disk.write(lines(1, 2, 3))
    quick(lake)
    disk.write(lines(1))
    assert quick(lake).total("records") == 0
    disk.append(lines(4))
    quick(lake)
    assert messages(lake) == [1, 2, 3, 4]
    assert raw_rows(lake) == 4
    is_consistent(lake)


@pytest.mark.parametrize("how", ["write", "replace"])
def test_a_rewritten_file_adds_what_is_new_in_it(lake, disk, how):
    disk.write(lines(1, 2, 3))
    quick(lake)
    getattr(disk, how)(lines(2, 3, 4, 5))
    assert quick(lake).total("records") == 2
    assert messages(lake) == [1, 2, 3, 4, 5]
    assert stream(lake, "generation, records") == (1, 5)
    is_consistent(lake)


@pytest.mark.parametrize("how", ["write", "replace"])
def test_a_file_with_the_same_head_and_another_tail_is_read_again(lake, disk, how):
    start = lines(*range(1, 40))
    assert len(start) > 2 * jsonl.EDGE
    disk.write(start + lines(40, 41))
    quick(lake)
    getattr(disk, how)(start + lines(42, 43, 44))
    quick(lake)
    assert messages(lake) == list(range(1, 45))
    is_consistent(lake)


def test_a_file_that_shrank_and_grew_beyond_its_old_end_is_read_again(lake, disk):
    disk.write(lines(1, 2, 3))
    quick(lake)
    disk.write(lines(*range(10, 20)))
    quick(lake)
    assert messages(lake) == [1, 2, 3, *range(10, 20)]
    is_consistent(lake)


def test_a_file_that_is_rewritten_while_it_is_loaded_doubles_nothing(lake, disk):
    """An agent copies its own file out, and in between a load takes the first half."""
    disk.write(lines(*range(1, 9)))
    quick(lake)
    disk.replace(lines(*range(1, 5)))
    quick(lake)
    disk.append(lines(*range(5, 9)))
    quick(lake)
    disk.append(lines(9))
    quick(lake)
    assert messages(lake) == list(range(1, 10))
    assert raw_rows(lake) == 9
    assert stream(lake, "generation, records") == (0, 9)
    is_consistent(lake)


def test_a_copy_of_a_file_is_the_file_and_goes_on_in_it(lake, disk):
    """A generation that began in its middle would hide what stands before it."""
    for upto in (3, 5, 6):
        disk.replace(lines(*range(1, upto)))
        quick(lake)
    assert quick(lake).total("read") == 0
    assert messages(lake) == [1, 2, 3, 4, 5]
    assert stream(lake, "generation, records") == (0, 5)
    disk.replace(lines(1, 2, 7, 4, 5, 6))
    quick(lake)
    assert stream(lake, "generation, records") == (1, 7)
    is_consistent(lake)


@pytest.mark.parametrize("seen", [b"", row(1)[:20], b"\n"])
@pytest.mark.parametrize("how", ["write", "replace"])
def test_a_copy_that_is_seen_before_its_first_line_is_whole_doubles_nothing(
    lake, disk, how, seen
):
    disk.write(lines(1, 2, 3))
    quick(lake)
    getattr(disk, how)(seen)
    assert quick(lake).total("records") == 0
    disk.replace(lines(1, 2, 3, 4))
    quick(lake)
    assert messages(lake) == [1, 2, 3, 4]
    assert raw_rows(lake) == 4
    assert stream(lake, "generation, records") == (0, 4)
    is_consistent(lake)


def test_blank_lines_are_no_lines_that_raw_has(lake, disk):
    disk.write(lines(1, 2, 3, 4, 5))
    quick(lake)
    disk.replace(lines(1) + b"\n" + lines(2) + b"\n" + lines(3))
    quick(lake)
    disk.append(lines(4, 5))
    quick(lake)
    assert raw_rows(lake) == 5
    is_consistent(lake)


def test_half_of_a_copy_hides_no_line_that_comes_twice(lake, disk):
    disk.write(lines(1, 2, 3, 2))
    quick(lake)
    disk.replace(lines(1, 2))
    quick(lake)
    disk.append(lines(3))
    quick(lake)
    disk.append(lines(2, 2))
    quick(lake)
    assert raw_rows(lake) == 5
    assert stream(lake, "generation, records") == (0, 5)
    is_consistent(lake)


def test_loads_between_any_bytes_equal_one_load(new_lake, disk):
    data = lines(1, 2) + b"\n  \n" + lines(2, 3, 3) + row(4) + b"\r\n{bad}\n" + lines(5)
    grown = new_lake()
    order = random.Random(1)
    cuts = sorted(order.sample(range(len(data)), 12))
    for start, stop in zip([0, *cuts], [*cuts, len(data)], strict=True):
        disk.append(data[start:stop])
        quick(grown)
    once = new_lake()
    quick(once)
    varies = ("load_id", "loaded_at", "first_loaded_at")
    same(
        grown.all("raw", "staging", without=varies),
        once.all("raw", "staging", without=varies),
    )
    columns = "cursor, records, status, generation, size, mtime_ns"
    assert stream(grown, columns) == stream(once, columns)


# -- files that vanish and move


def test_a_deleted_file_keeps_its_rows_and_may_come_back(lake, disk):
    disk.write(lines(1, 2))
    lake.load()
    beside = disk.home / "beside"
    disk.session.rename(beside)
    lake.load()
    assert lake.one("select count(*) from core.usage") == 2
    (since,) = stream(lake, "missing_since")
    assert since is not None
    lake.load()
    assert stream(lake, "missing_since") == (since,)
    beside.rename(disk.session)
    assert lake.load().total("read") == 0
    assert stream(lake, "missing_since, records") == (None, 2)


def compress(file):
    to = file.with_name(file.name + ".zst")
    to.write_bytes(zstd.compress(file.read_bytes()))
    return to


def codex_calls(lake):
    return lake.rows("select count(*), sum(input_tokens) from core.usage")[0]


def test_an_archived_thread_is_the_same_stream(lake, disk):
    disk.write(rollout(3), disk.thread)
    lake.load()
    disk.thread.rename(disk.archive)
    assert lake.load().total("read") == 0
    assert stream(lake, "path, missing_since", "codex") == (str(disk.archive), None)
    disk.append(rollout(4, start=3), disk.archive)
    lake.load()
    assert codex_calls(lake) == (4, 40)
    assert raw_rows(lake, "codex") == 6


def test_a_compressed_thread_is_the_same_stream(lake, disk):
    disk.write(rollout(3), disk.thread)
    lake.load()
    packed = compress(disk.thread)
    lake.load()  # both are there: only the plain one is looked at
    assert stream(lake, "path", "codex") == (str(disk.thread),)
    disk.thread.unlink()
    lake.load()
    assert stream(lake, "path, records, status", "codex") == (str(packed), 5, "loaded")
    disk.write(zstd.decompress(packed.read_bytes()), disk.thread)
    packed.unlink()
    disk.append(rollout(4, start=3), disk.thread)
    lake.load()
    disk.append(rollout(6, start=4), disk.thread)
    lake.load()
    assert codex_calls(lake) == (6, 60)
    assert raw_rows(lake, "codex") == 8
    is_consistent(lake)


# -- lines of every kind


def test_equal_lines_are_each_kept_and_counted_once(lake, disk):
    disk.write(lines(1, 2, 1, 1))
    lake.load()
    disk.append(lines(1, 2))
    lake.load()
    assert raw_rows(lake) == 6
    assert lake.rows("select count(*), sum(output_tokens) from core.usage") == [(2, 20)]
    is_consistent(lake)


def test_blank_lines_line_ends_of_windows_and_marks_are_no_trouble(lake, disk):
    disk.write(
        b"\xef\xbb\xbf"
        + row(1)
        + b"\r\n\r\n\n   \n"
        + row(2)
        + b"\n\0\0\0"
        + row(3)
        + b"\n"
    )
    quick(lake)
    assert messages(lake) == [1, 2, 3]
    assert [
        seq for (seq,) in lake.rows("select seq from raw.claude_code order by 1")
    ] == [0, 4, 5]
    assert lake.rows("select reason from meta.rejects") == []


def test_a_damaged_line_is_a_reject_with_its_place_and_is_kept(lake, disk):
    disk.write(lines(1) + b'{"type": "assistant", \xff\xfe\n' + lines(2))
    assert quick(lake).total("rejects") == 1
    assert messages(lake) == [1, 2]
    ((seq, offset, reason),) = lake.rows(
        "select seq, byte_offset, reason from meta.rejects"
    )
    assert (seq, offset) == (1, len(lines(1)))
    assert reason.startswith("no JSON")
    kept = lake.rows("select payload, payload_bytes from raw.claude_code where seq = 1")
    assert kept == [(None, b'{"type": "assistant", \xff\xfe')]


def test_a_line_may_be_longer_than_a_chunk(lake, disk):
    disk.write(lines(1) + row(2, "x" * 30_000_000) + b"\n" + lines(3))
    quick(lake)
    assert messages(lake) == [1, 2, 3]
    assert lake.one("select max(length(text)) from staging.blocks") == 30_000_000


def test_a_line_that_is_too_long_is_a_reject_and_the_others_are_read(
    lake, disk, monkeypatch
):
    monkeypatch.setattr(jsonl, "MOST_LINE", 5 << 20)
    disk.write(lines(1) + row(2, "x" * (13 << 20)) + b"\n" + lines(3))
    quick(lake)
    assert messages(lake) == [1, 3]
    ((reason,),) = lake.rows("select reason from meta.rejects")
    assert reason.endswith("bytes is too long to keep")
    disk.append(lines(4))
    quick(lake)
    assert messages(lake) == [1, 3, 4]
    assert [
        seq for (seq,) in lake.rows("select seq from raw.claude_code order by 1")
    ] == [0, 1, 2, 3]


def test_whether_a_line_is_too_long_does_not_depend_on_how_it_is_cut(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(jsonl, "MOST_LINE", 1000)
    file = tmp_path / "lines"
    file.write_bytes(b"a\n" + b"x" * 1500 + b"\n" + b"y" * 900 + b"\nb\n")
    found = []
    for chunk in (10, 700, 1600, 1 << 20):
        read = [
            one
            for part in jsonl.read(str(file), None, chunk=chunk)
            for one in part.lines
        ]
        found.append(
            [(one.seq, one.offset, one.size, one.data is None) for one in read]
        )
    assert found == [found[0]] * 4


def test_a_file_without_any_line_end_waits(lake, disk):
    disk.write(row(1))
    quick(lake)
    assert messages(lake) == []
    assert stream(lake, "status, records") == ("waiting", 0)


def test_a_last_line_that_nobody_ended_is_taken_when_the_file_is_old(lake, disk):
    disk.write(lines(1) + row(2))
    aged(disk.session)
    quick(lake)
    assert messages(lake) == [1, 2]
    assert quick(lake).total("read") == 0


def test_a_torn_last_line_is_not_taken_however_old_the_file_is(lake, disk):
    disk.write(lines(1) + row(2)[:50])
    aged(disk.session)
    quick(lake)
    assert messages(lake) == [1]
    assert quick(lake).total("read") == 0
    disk.append(row(2)[50:] + b"\n")
    quick(lake)
    assert messages(lake) == [1, 2]


def test_a_waiting_line_is_taken_when_its_file_has_become_old(lake, disk):
    disk.write(lines(1) + row(2))
    aged(disk.session, 3590)
    quick(lake)
    assert messages(lake) == [1]
    # the same look at the file, an hour later
    connection = lake.connection
    connection.execute("update meta.streams set mtime_ns = mtime_ns - 20_000_000_000")
    aged(disk.session, 20)
    quick(lake)
    assert messages(lake) == [1, 2]


def test_the_lines_after_one_that_was_taken_early_have_their_own_numbers(
    new_lake, disk
):
    early, once = new_lake(), new_lake()
    disk.write(lines(1) + row(2))
    aged(disk.session)
    quick(early)
    disk.append(b"\n" + lines(3, 4))
    quick(early)
    quick(once)
    same(
        early.all("raw", "staging", without=("load_id",)),
        once.all("raw", "staging", without=("load_id",)),
    )


# -- what cannot be read


def unreadable(path, monkeypatch):
    """Something at this path that can be looked at and not be opened, even by root."""
    monkeypatch.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)


def test_a_file_that_cannot_be_read_is_deferred_and_stops_nobody(
    lake, disk, monkeypatch
):
    disk.write(lines(1))
    bad = disk.claude / "bbbbbbbb-0000-4000-8000-000000000002.jsonl"
    unreadable(bad, monkeypatch)
    disk.write(rollout(2), disk.thread)
    report = quick(lake)
    ((path, reason),) = report.sources["claude_code"].deferred
    assert path == str(bad)
    assert reason
    assert not report.complete
    assert report.sources["codex"].deferred == []
    assert (raw_rows(lake), raw_rows(lake, "codex")) == (1, 4)
    again = quick(lake)
    assert [path for path, _ in again.sources["claude_code"].deferred] == [str(bad)]
    bad.unlink()
    bad.write_bytes(lines(2))
    assert quick(lake).complete
    assert messages(lake) == [1, 2]
    assert lake.rows("select distinct status, reason from meta.streams") == [
        ("loaded", None)
    ]


def test_a_link_to_nowhere_is_no_stream(lake, disk):
    disk.write(lines(1))
    (disk.claude / "bbbbbbbb-0000-4000-8000-000000000002.jsonl").symlink_to("nowhere")
    assert quick(lake).complete
    assert messages(lake) == [1]


def test_of_a_damaged_archive_the_readable_part_is_kept_once(lake, disk, monkeypatch):
    monkeypatch.setitem(jsonl.read.__kwdefaults__, "chunk", 100_000)
    data = rollout(3_000)
    packed = disk.thread.with_name(disk.thread.name + ".zst")
    whole = zstd.compress(data, level=1)
    packed.write_bytes(whole[: len(whole) * 2 // 3])
    report = quick(lake)
    assert len(report.sources["codex"].deferred) == 1
    kept = raw_rows(lake, "codex")
    assert 0 < kept < 3_000
    quick(lake)
    assert raw_rows(lake, "codex") == kept
    packed.write_bytes(whole)
    assert quick(lake).complete
    assert raw_rows(lake, "codex") == 3_002
    is_consistent(lake)


def test_a_document_that_is_being_rewritten_is_deferred(lake, disk):
    agent = disk.claude / SESSION / "subagents"
    agent.mkdir(parents=True)
    side = agent / "agent-1.meta.json"
    side.write_text('{"agentType": "Explore", "toolUse')
    report = quick(lake)
    assert [path for path, _ in report.sources["claude_code"].deferred] == [str(side)]
    side.write_text('{"agentType": "Explore", "toolUseId": "toolu_1"}')
    assert quick(lake).complete
    assert lake.rows("select agent_type from staging.sessions") == [("Explore",)]
    side.write_text('{"agentType": "Plan", "toolUseId": "toolu_1"}')
    quick(lake)
    assert stream(lake, "generation, records") == (1, 2)
    assert quick(lake).total("read") == 0


# -- a newer parser


def newer(plan):
    """The same adapter as its next version."""

    class Next:
        SOURCE = plan.adapter.SOURCE
        ROOTS = plan.adapter.ROOTS
        PARSER_VERSION = plan.adapter.PARSER_VERSION + 1
        discover = staticmethod(plan.adapter.discover)
        parse = staticmethod(plan.adapter.parse)

    return SourcePlan(adapter=Next, roots=plan.roots)


@pytest.mark.slow
def test_a_newer_parser_parses_everything_again_though_the_files_are_gone(lake):
    for case in CASES:
        if case.source in ("claude_code", "codex") and case.name in (
            "damaged_lines",
            "dirty_bytes",
            "generation_zero",
            "workflows",
        ):
            shutil.copytree(case.home, lake.home, dirs_exist_ok=True)
    lake.load()
    before = lake.all("staging", "core", without=("load_id",))
    rejects = lake.rows("select * exclude load_id from meta.rejects order by all")
    assert rejects
    now = [newer(plan) for plan in plans(lake.home)]
    for folder in lake.home.iterdir():
        shutil.rmtree(folder)
    report = lake.load(now)
    assert report.total("replayed") == lake.one(
        """
        select (select count(*) from raw.claude_code) + (select count(*) from raw.codex)
        """
    )
    same(before, lake.all("staging", "core", without=("load_id",)))
    assert (
        lake.rows("select * exclude load_id from meta.rejects order by all") == rejects
    )
    assert lake.load(now).total("replayed") == 0


def test_a_line_that_was_too_long_is_still_said_to_be_so_after_a_replay(
    lake, disk, monkeypatch
):
    monkeypatch.setattr(jsonl, "MOST_LINE", 5 << 20)
    disk.write(lines(1) + row(2, "x" * (13 << 20)) + b"\n")
    quick(lake)
    before = lake.rows("select seq, reason from meta.rejects")
    lake.load([newer(plan) for plan in plans(lake.home)], fresh=False)
    assert lake.rows("select seq, reason from meta.rejects") == before


# -- which streams, in which order, and who else


def test_the_newest_streams_are_loaded_first(lake, disk):
    for age in (3, 1, 2):
        file = disk.claude / f"{age}.jsonl"
        file.write_bytes(lines(age))
        aged(file, age * 100)
    disk.write(rollout(1), disk.thread)
    seen = []
    connection = lake.connection
    load(
        connection,
        plans(lake.home),
        on_progress=lambda report: seen.append(
            [one.source for one in report.sources.values() if one.read]
        ),
    )
    assert seen[0] == ["codex"]
    order = "select payload::json->>'$.uuid' from raw.claude_code"
    assert lake.rows(order) == [("u1",), ("u2",), ("u3",)]


def test_a_load_can_be_limited_to_some_streams(lake, disk):
    for number in (1, 2):
        (disk.claude / f"{number}.jsonl").write_bytes(lines(number))
    only = {stream_id("claude_code", str(disk.claude / "2.jsonl"))}
    report = quick(lake, only=only)
    assert report.total("streams") == 1
    assert messages(lake) == [2]
    assert lake.rows("select count(missing_since) from meta.streams") == [(0,)]
    quick(lake)
    assert messages(lake) == [1, 2]


def test_one_file_under_two_names_is_loaded_once(lake, disk):
    disk.write(lines(1, 2))
    (disk.claude / "other.jsonl").hardlink_to(disk.session)
    quick(lake)
    assert raw_rows(lake) == 2


HOLD = """
import sys, time
from pathlib import Path
from agentlake.pipelines.warehouse.connect import writing
with writing(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def holder(lake, seconds):
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lake.path), str(seconds)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "held\n"
    return child


def test_a_second_loader_waits_for_the_first(lake, disk):
    disk.write(lines(1))
    with holder(lake, 0.3):
        quick(lake)
    assert messages(lake) == [1]


def test_a_second_loader_says_who_holds_the_warehouse(lake):
    from agentlake.pipelines.warehouse.connect import writing

    with holder(lake, 60) as child:
        try:
            with pytest.raises(BusyError) as caught, writing(lake.path, wait_s=0.2):
                pass
        finally:
            child.kill()
    assert f"pid {child.pid}" in str(caught.value)
    assert str(lake.path) in str(caught.value)


def test_a_load_lists_the_folders_once(lake, disk):
    disk.write(lines(1))
    quick(lake)
    (plan,) = [it for it in plans(lake.home) if it.adapter.SOURCE == "claude_code"]
    listed = []

    def discover(root, options):
        listed.append(root)
        return plan.adapter.discover(root, options)

    counting = newer(plan)  # a replay, then a load
    counting.adapter.discover = discover
    report = quick(lake, plans_=[counting])
    assert report.sources["claude_code"].replayed == 1
    assert len(listed) == len(counting.roots) == 1
    listings = {"claude_code": list_streams(counting)}
    quick(lake, plans_=[counting], listings=listings)
    assert len(listed) == 2
