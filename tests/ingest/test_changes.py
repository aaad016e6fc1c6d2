"""What is loaded when: the decision as a table, and the disk as it is remembered."""

import os
import shutil
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from support.cases import plans

from agentlake.adapters.sdk.contract import Stream
from agentlake.pipelines.ingest import scanner
from agentlake.pipelines.ingest.changes import (
    MOST_LISTED,
    Baseline,
    ask,
    baseline_after,
    changes,
    decide,
    delay,
    interval,
)
from agentlake.pipelines.ingest.plan import SourcePlan
from agentlake.pipelines.ingest.scanner import Scanner, Snapshot, StreamState
from agentlake.pipelines.timing import FROZEN_AFTER_S, SETTLED_AFTER_S

DAY = FROZEN_AFTER_S
NOW = 1_800_000_000.0
MB = 1_000_000


def snapshot(version=1, **streams):
    """Streams by letter: the fingerprint of each, its size, and its age in seconds."""
    seen = {
        ord(letter): StreamState(found, size, int((NOW - age) * 1e9))
        for letter, (found, size, age) in streams.items()
    }
    fingerprint = 0
    for one in seen.values():
        fingerprint ^= one.fingerprint
    return Snapshot(
        source="it", parser_version=version, streams=seen, fingerprint=fingerprint
    )


def letters(chosen):
    return None if chosen is None else "".join(sorted(map(chr, chosen)))


def decided(now_is, baseline, *, at=NOW, asked=None):
    decision = decide([now_is], {"it": baseline}, {"it": asked} if asked else {}, at)
    if "it" not in decision.load:
        return "nothing", decision.wait_s
    return letters(decision.load["it"]), decision.wait_s


# A big one and a small one that are written to, two that nobody touches.
BIG, SMALL = (11, 200 * MB, 5), (12, 1000, 5)
OLD, OLDER = (13, 1000, 3 * DAY), (14, 1000, 9 * DAY)
BEFORE = snapshot(b=BIG, s=SMALL, o=OLD, p=OLDER)


@pytest.mark.parametrize(
    ("what", "now_is", "after_s", "expected"),
    [
        ("nothing", BEFORE, 99, ("nothing", None)),
        (
            "small grew",
            snapshot(b=BIG, s=(22, 1100, 0), o=OLD, p=OLDER),
            2,
            ("s", None),
        ),
        (
            "small grew at once",
            snapshot(b=BIG, s=(22, 1100, 0), o=OLD, p=OLDER),
            0.4,
            ("nothing", 0.1),
        ),
        (
            "big grew",
            snapshot(b=(21, 200 * MB, 0), s=SMALL, o=OLD, p=OLDER),
            2,
            ("nothing", 28.0),
        ),
        (
            "both grew",
            snapshot(b=(21, 200 * MB, 0), s=(22, 1100, 0), o=OLD, p=OLDER),
            2,
            ("s", 28.0),
        ),
        (
            "big grew and had its rest",
            snapshot(b=(21, 200 * MB, 0), s=SMALL, o=OLD, p=OLDER),
            31,
            ("b", None),
        ),
        (
            "a new one",
            snapshot(b=BIG, s=SMALL, o=OLD, p=OLDER, n=(15, 9, 0)),
            0.1,
            ("n", None),
        ),
        (
            "an old one grew",
            snapshot(b=BIG, s=SMALL, o=(23, 9, 0), p=OLDER),
            9,
            (None, None),
        ),
        (
            "an old one came",
            snapshot(b=BIG, s=SMALL, o=OLD, p=OLDER, n=(15, 9, 5 * DAY)),
            9,
            (None, None),
        ),
        ("an old one went", snapshot(b=BIG, s=SMALL, o=OLD), 9, (None, None)),
        ("a busy one went", snapshot(b=BIG, o=OLD, p=OLDER), 9, (None, None)),
        ("all went", snapshot(), 9, (None, None)),
        (
            "another parser",
            snapshot(2, b=BIG, s=SMALL, o=OLD, p=OLDER),
            9,
            (None, None),
        ),
        ("all right after all", snapshot(b=BIG, s=SMALL, o=OLD), 1, ("nothing", 4.0)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_changed_is_loaded_and_nothing_else(what, now_is, after_s, expected):
    del what
    baseline = baseline_after(BEFORE, None, None, NOW)
    assert letters(baseline.listed) == "bs"
    chosen, wait = decided(now_is, baseline, at=NOW + after_s)
    assert chosen == expected[0]
    assert wait == pytest.approx(expected[1])


def test_without_a_record_everything_is_loaded():
    assert decided(BEFORE, None) == (None, None)
    assert decided(snapshot(), None) == (None, None)


def test_a_record_survives_as_text_and_another_text_is_none():
    baseline = baseline_after(BEFORE, None, None, NOW)
    assert Baseline.decoded(baseline.encoded()) == baseline
    assert Baseline.decoded("dac56ef52cef243d") is None
    assert Baseline.decoded(None) is None
    assert Baseline.decoded('{"fingerprint": 3}') is None


def test_what_was_loaded_alone_is_recorded_and_what_was_not_is_not():
    baseline = baseline_after(BEFORE, None, None, NOW)
    both = snapshot(b=(21, 200 * MB, 0), s=(22, 1100, 0), o=OLD, p=OLDER, n=(15, 9, 0))
    assert letters(changes(both, baseline)) == "bns"
    after = baseline_after(both, baseline, {ord("s"), ord("n")}, NOW + 2)
    assert letters(changes(both, after)) == "b"
    after = baseline_after(both, after, {ord("b")}, NOW + 40)
    assert changes(both, after) == frozenset()
    assert after.fingerprint == both.fingerprint


def test_what_could_not_be_read_is_tried_again_ever_more_rarely():
    baseline, at, waits = None, NOW, []
    for _ in range(12):
        baseline = baseline_after(
            BEFORE, baseline, None, at, unread={ord("o"), ord("s")}
        )
        assert letters(changes(BEFORE, baseline)) == "os"
        _, wait = decided(BEFORE, baseline, at=at)
        waits.append(wait)
        at += wait
        assert decided(BEFORE, baseline, at=at) == ("os", None)
    assert waits[:4] == [10, 20, 40, 80]
    assert waits[-1] == 3600
    baseline = baseline_after(BEFORE, baseline, {ord("o"), ord("s")}, at)
    assert decided(BEFORE, baseline, at=at + 9999) == ("nothing", None)


def test_more_unread_than_can_be_listed_are_tried_again_as_well():
    many = snapshot(**{chr(200 + n): (n + 1, 1, 5) for n in range(MOST_LISTED + 50)})
    baseline = baseline_after(many, None, None, NOW, unread=set(many.streams))
    assert decided(many, baseline, at=NOW) == ("nothing", 10)
    assert decided(many, baseline, at=NOW + 11) == (None, None)
    baseline = baseline_after(many, baseline, None, NOW, unread=set(many.streams))
    assert decided(many, baseline, at=NOW) == ("nothing", 20)


def test_half_a_line_is_taken_once_nobody_has_written_for_long():
    baseline = baseline_after(BEFORE, None, None, NOW, half={ord("s")})
    chosen, wait = decided(BEFORE, baseline, at=NOW + 10)
    assert (chosen, SETTLED_AFTER_S < wait < SETTLED_AFTER_S + 120) == ("nothing", True)
    assert decided(BEFORE, baseline, at=NOW + 10 + wait) == ("s", None)
    written = snapshot(b=BIG, s=(22, 1100, 0), o=OLD, p=OLDER)
    assert decided(written, baseline, at=NOW + 2)[0] == "s"


def test_of_very_many_the_newest_are_known_one_by_one():
    """A first load of a copied home: everything was written today."""
    streams = {chr(200 + n): (n + 1, 10, n) for n in range(3 * MOST_LISTED)}
    baseline = baseline_after(snapshot(**streams), None, None, NOW)
    assert len(baseline.listed) == MOST_LISTED
    newest, oldest = chr(200), chr(200 + 3 * MOST_LISTED - 1)
    grown = snapshot(**streams | {newest: (9999, 11, 0)})
    assert decided(grown, baseline, at=NOW + 9) == (newest, None)
    grown = snapshot(**streams | {oldest: (9999, 11, 0)})
    assert decided(grown, baseline, at=NOW + 9) == (None, None)


def test_a_load_that_failed_is_not_asked_for_again_at_once():
    baseline = baseline_after(BEFORE, None, None, NOW)
    grown = snapshot(b=BIG, s=(22, 1100, 0), o=OLD, p=OLDER)
    asked, at, waits = None, NOW + 2, []
    for _ in range(9):
        assert decided(grown, baseline, at=at, asked=asked) == ("s", None)
        asked = ask(grown, baseline, asked, at)
        _, wait = decided(grown, baseline, at=at, asked=asked)
        waits.append(wait)
        at += wait
    assert waits == [10, 20, 40, 80, 160, 320, 600, 600, 600]
    # More was written meanwhile: worth a try within a minute.
    more = snapshot(b=BIG, s=(23, 1200, 0), o=OLD, p=OLDER)
    assert decided(more, baseline, at=asked.at + 59, asked=asked)[0] == "nothing"
    assert decided(more, baseline, at=asked.at + 61, asked=asked)[0] == "s"
    # One came through: the next change is loaded as always.
    after = baseline_after(grown, baseline, {ord("s")}, at)
    assert decided(more, after, at=at + 1.5, asked=asked)[0] == "s"
    assert ask(more, after, asked, at).tries == 1


def test_pauses_grow_with_the_size_and_have_an_end():
    assert interval(1000) == 0.5
    assert interval(200 * MB) == 30
    assert interval(10**12) == 60
    assert delay(10**6, 600) == 600


# The disk itself.

TODAY = time.time()
CLAUDE = ".claude/projects"


@pytest.fixture
def home(tmp_path):
    """Two projects of old sessions, one that is written to, one thread of Codex."""
    home = tmp_path / "home"
    for name in ("a/one", "a/two", "b/three", "b/live"):
        file = home / CLAUDE / f"{name}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}\n")
        if name != "b/live":
            os.utime(file, (TODAY - 2 * DAY, TODAY - 2 * DAY))
    thread = home / ".codex/sessions/2026/11/30/rollout-1.jsonl"
    thread.parent.mkdir(parents=True)
    thread.write_text("{}\n")
    for folder in (path for path in home.rglob("*") if path.is_dir()):
        os.utime(folder, (TODAY - 2 * DAY, TODAY - 2 * DAY))
    return home


def disk_of(home, source="claude_code"):
    (plan,) = (one for one in plans(home) if source == one.adapter.SOURCE)
    return Scanner(plan)


def test_equal_disks_look_equal_to_one_who_never_looked_before(home):
    old = disk_of(home)
    first = old.scan(TODAY)
    assert len(first.streams) == 4
    assert (
        old.scan(TODAY + 5).fingerprint
        == disk_of(home).scan(TODAY + 9).fingerprint
        == first.fingerprint
    )


def touch(path, text="{}\n"):
    with path.open("a") as file:
        file.write(text)


CHANGES = {
    "append": lambda home: touch(home / CLAUDE / "b/live.jsonl"),
    "append to a frozen one": lambda home: touch(home / CLAUDE / "a/one.jsonl"),
    "new": lambda home: touch(home / CLAUDE / "a/new.jsonl"),
    "new below a new folder": lambda home: (
        (home / CLAUDE / "c/s/subagents").mkdir(parents=True),
        touch(home / CLAUDE / "c/s/subagents/agent-1.jsonl"),
    ),
    "deleted": lambda home: (home / CLAUDE / "a/one.jsonl").unlink(),
    "renamed": lambda home: (home / CLAUDE / "a/one.jsonl").rename(
        home / CLAUDE / "a/other.jsonl"
    ),
    "replaced": lambda home: (
        (home / "x").write_text("{}\n"),
        (home / "x").replace(home / CLAUDE / "a/one.jsonl"),
    ),
    "a folder deleted": lambda home: shutil.rmtree(home / CLAUDE / "a"),
    "all deleted": lambda home: shutil.rmtree(home / CLAUDE),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen_by_the_next_scan(home, change):
    known = disk_of(home)
    before = known.scan(TODAY).fingerprint
    CHANGES[change](home)
    after = known.scan(TODAY + 5)
    assert after.fingerprint != before
    fresh = disk_of(home).scan(TODAY + 5)
    assert after.fingerprint == fresh.fingerprint
    assert dict(after.streams) == dict(fresh.streams)


def test_an_empty_root_that_gets_a_session_later(home):
    shutil.rmtree(home / CLAUDE)
    known = disk_of(home)
    assert not known.scan(TODAY).streams
    (home / CLAUDE).mkdir()
    known.scan(TODAY + 1)
    (home / CLAUDE / "z").mkdir()
    known.scan(TODAY + 2)
    touch(home / CLAUDE / "z/s.jsonl")
    assert len(known.scan(TODAY + 3).streams) == 1


def test_an_archived_thread_is_the_same_stream_that_looks_different(home):
    known = disk_of(home, "codex")
    before = known.scan(TODAY)
    baseline = baseline_after(before, None, None, TODAY)
    archive = home / ".codex/archived_sessions"
    archive.mkdir()
    (home / ".codex/sessions/2026/11/30/rollout-1.jsonl").rename(
        archive / "rollout-1.jsonl"
    )
    after = known.scan(TODAY + 5)
    assert list(after.streams) == list(before.streams)
    assert changes(after, baseline) == frozenset(after.streams)


def test_frozen_streams_take_turns_and_thaw_when_touched(home, monkeypatch):
    monkeypatch.setattr(scanner, "FROZEN_AT_ONCE", 1)
    asked = Counter()
    signature_now = scanner.signature_now

    def counting(stream, path):
        asked[Path(path).stem] += 1
        return signature_now(stream, path)

    known = disk_of(home)
    known.scan(TODAY)
    monkeypatch.setattr(scanner, "signature_now", counting)
    for second in range(1, 5):
        known.scan(TODAY + second)
    assert asked.pop("live") == 4
    assert asked == {"one": 1, "two": 1, "three": 1}
    frozen = home / CLAUDE / "a/two.jsonl"
    before = known.scan(TODAY + 5).fingerprint
    touch(frozen)  # the folder does not change by that
    known.scan(TODAY + 6, touched=[str(frozen)])
    assert known.scan(TODAY + 7).fingerprint != before
    asked.clear()
    for second in range(8, 12):
        known.scan(TODAY + second)
    assert asked["two"] == asked["live"] == 4


def test_what_cannot_be_looked_at_is_a_stream_and_no_error(home, monkeypatch):
    signature_now = scanner.signature_now

    def forbidden(stream, path):
        if path.endswith("one.jsonl"):
            raise PermissionError(13, "not yours")
        return signature_now(stream, path)

    known = disk_of(home)
    monkeypatch.setattr(scanner, "signature_now", forbidden)
    before = known.scan(TODAY)
    assert len(before.streams) == 4
    monkeypatch.setattr(scanner, "signature_now", signature_now)
    assert known.scan(TODAY + 100).fingerprint != before.fingerprint


def test_a_database_is_looked_at_every_time_with_what_lies_beside_it(home):
    path = home / "it.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("pragma journal_mode = wal")
        writer.execute("create table rows (id integer)")
        os.utime(path, (TODAY - 9 * DAY, TODAY - 9 * DAY))
        known = Scanner(SourcePlan(adapter=Database(path), roots=[path]))
        before = known.scan(TODAY).fingerprint
        assert known.scan(TODAY + 1).fingerprint == before
        assert Scanner(known.plan).scan(TODAY + 2).fingerprint == before
        writer.execute("insert into rows values (1)")
        assert known.scan(TODAY + 3).fingerprint != before
        assert known.concerns(f"{path}-wal", is_new=False)


class Database:
    """An adapter with one stream; only to be looked at."""

    SOURCE, PARSER_VERSION, ROOTS = "it", 1, ()

    def __init__(self, path):
        self.path = path

    def discover(self, root, options):
        yield Stream(path=str(self.path), key="it", reader="sqlite")


def test_a_stream_without_a_file_is_loaded_now_and_then(tmp_path):
    class Own(Database):
        def discover(self, root, options):
            yield Stream(path="service:it", key="it", reader="own")

    known = Scanner(SourcePlan(adapter=Own(None), roots=[tmp_path]))
    looks = {known.scan(TODAY + second).fingerprint for second in range(5)}
    assert len(looks) <= 2


def test_a_link_that_leads_nowhere_and_one_to_itself_are_no_streams(home):
    folder = home / CLAUDE / "a"
    (folder / "gone.jsonl").symlink_to(folder / "nothing")
    (folder / "self.jsonl").symlink_to(folder / "self.jsonl")
    (folder / "loop").symlink_to(folder)
    known = disk_of(home)
    assert not {"gone", "self"} & {
        Path(entry.path).stem
        for name, entry in known._entries.items()
        if name in known.scan(TODAY).streams
    }
