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
from agentlake.pipelines.ingest import disk
from agentlake.pipelines.ingest.changes import (
    MOST_LISTED,
    Recorded,
    ask,
    changes,
    decide,
    delay,
    interval,
    record,
)
from agentlake.pipelines.ingest.disk import Disk, Look, Seen
from agentlake.pipelines.ingest.plan import SETTLED_AFTER_S, SourcePlan

DAY = disk.FROZEN_AFTER_S
NOW = 1_800_000_000.0
MB = 1_000_000


def look(version=1, **streams):
    """Streams by letter: what each looks like, its size, and its age in seconds."""
    seen = {
        ord(letter): Seen(looks, size, int((NOW - age) * 1e9))
        for letter, (looks, size, age) in streams.items()
    }
    whole = 0
    for one in seen.values():
        whole ^= one.looks
    return Look(source="it", parser_version=version, streams=seen, whole=whole)


def letters(chosen):
    return None if chosen is None else "".join(sorted(map(chr, chosen)))


def decided(now_looks, recorded, *, at=NOW, asked=None):
    decision = decide([now_looks], {"it": recorded}, {"it": asked} if asked else {}, at)
    if "it" not in decision.load:
        return "nothing", decision.wait_s
    return letters(decision.load["it"]), decision.wait_s


# A big one and a small one that are written to, two that nobody touches.
BIG, SMALL = (11, 200 * MB, 5), (12, 1000, 5)
OLD, OLDER = (13, 1000, 3 * DAY), (14, 1000, 9 * DAY)
BEFORE = look(b=BIG, s=SMALL, o=OLD, p=OLDER)


@pytest.mark.parametrize(
    ("what", "now_looks", "after_s", "expected"),
    [
        ("nothing", BEFORE, 99, ("nothing", None)),
        ("small grew", look(b=BIG, s=(22, 1100, 0), o=OLD, p=OLDER), 2, ("s", None)),
        (
            "small grew at once",
            look(b=BIG, s=(22, 1100, 0), o=OLD, p=OLDER),
            0.4,
            ("nothing", 0.1),
        ),
        (
            "big grew",
            look(b=(21, 200 * MB, 0), s=SMALL, o=OLD, p=OLDER),
            2,
            ("nothing", 28.0),
        ),
        (
            "both grew",
            look(b=(21, 200 * MB, 0), s=(22, 1100, 0), o=OLD, p=OLDER),
            2,
            ("s", 28.0),
        ),
        (
            "big grew and had its rest",
            look(b=(21, 200 * MB, 0), s=SMALL, o=OLD, p=OLDER),
            31,
            ("b", None),
        ),
        (
            "a new one",
            look(b=BIG, s=SMALL, o=OLD, p=OLDER, n=(15, 9, 0)),
            0.1,
            ("n", None),
        ),
        (
            "an old one grew",
            look(b=BIG, s=SMALL, o=(23, 9, 0), p=OLDER),
            9,
            (None, None),
        ),
        (
            "an old one came",
            look(b=BIG, s=SMALL, o=OLD, p=OLDER, n=(15, 9, 5 * DAY)),
            9,
            (None, None),
        ),
        ("an old one went", look(b=BIG, s=SMALL, o=OLD), 9, (None, None)),
        ("a busy one went", look(b=BIG, o=OLD, p=OLDER), 9, (None, None)),
        ("all went", look(), 9, (None, None)),
        ("another parser", look(2, b=BIG, s=SMALL, o=OLD, p=OLDER), 9, (None, None)),
        ("all right after all", look(b=BIG, s=SMALL, o=OLD), 1, ("nothing", 4.0)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_changed_is_loaded_and_nothing_else(what, now_looks, after_s, expected):
    del what
    recorded = record(BEFORE, None, None, NOW)
    assert letters(recorded.listed) == "bs"
    chosen, wait = decided(now_looks, recorded, at=NOW + after_s)
    assert chosen == expected[0]
    assert wait == pytest.approx(expected[1])


def test_without_a_record_everything_is_loaded():
    assert decided(BEFORE, None) == (None, None)
    assert decided(look(), None) == (None, None)


def test_a_record_survives_as_text_and_another_text_is_none():
    recorded = record(BEFORE, None, None, NOW)
    assert Recorded.decoded(recorded.encoded()) == recorded
    assert Recorded.decoded("dac56ef52cef243d") is None
    assert Recorded.decoded(None) is None
    assert Recorded.decoded('{"whole": 3}') is None


def test_what_was_loaded_alone_is_recorded_and_what_was_not_is_not():
    recorded = record(BEFORE, None, None, NOW)
    both = look(b=(21, 200 * MB, 0), s=(22, 1100, 0), o=OLD, p=OLDER, n=(15, 9, 0))
    assert letters(changes(both, recorded)) == "bns"
    after = record(both, recorded, {ord("s"), ord("n")}, NOW + 2)
    assert letters(changes(both, after)) == "b"
    after = record(both, after, {ord("b")}, NOW + 40)
    assert changes(both, after) == frozenset()
    assert after.whole == both.whole


def test_what_could_not_be_read_is_tried_again_ever_more_rarely():
    recorded, at, waits = None, NOW, []
    for _ in range(12):
        recorded = record(BEFORE, recorded, None, at, unread={ord("o"), ord("s")})
        assert letters(changes(BEFORE, recorded)) == "os"
        _, wait = decided(BEFORE, recorded, at=at)
        waits.append(wait)
        at += wait
        assert decided(BEFORE, recorded, at=at) == ("os", None)
    assert waits[:4] == [10, 20, 40, 80]
    assert waits[-1] == 3600
    recorded = record(BEFORE, recorded, {ord("o"), ord("s")}, at)
    assert decided(BEFORE, recorded, at=at + 9999) == ("nothing", None)


def test_more_unread_than_can_be_listed_are_tried_again_as_well():
    many = look(**{chr(200 + n): (n + 1, 1, 5) for n in range(MOST_LISTED + 50)})
    recorded = record(many, None, None, NOW, unread=set(many.streams))
    assert decided(many, recorded, at=NOW) == ("nothing", 10)
    assert decided(many, recorded, at=NOW + 11) == (None, None)
    recorded = record(many, recorded, None, NOW, unread=set(many.streams))
    assert decided(many, recorded, at=NOW) == ("nothing", 20)


def test_half_a_line_is_taken_once_nobody_has_written_for_long():
    recorded = record(BEFORE, None, None, NOW, half={ord("s")})
    chosen, wait = decided(BEFORE, recorded, at=NOW + 10)
    assert (chosen, SETTLED_AFTER_S < wait < SETTLED_AFTER_S + 120) == ("nothing", True)
    assert decided(BEFORE, recorded, at=NOW + 10 + wait) == ("s", None)
    written = look(b=BIG, s=(22, 1100, 0), o=OLD, p=OLDER)
    assert decided(written, recorded, at=NOW + 2)[0] == "s"


def test_of_very_many_the_newest_are_known_one_by_one():
    """A first load of a copied home: everything was written today."""
    streams = {chr(200 + n): (n + 1, 10, n) for n in range(3 * MOST_LISTED)}
    recorded = record(look(**streams), None, None, NOW)
    assert len(recorded.listed) == MOST_LISTED
    newest, oldest = chr(200), chr(200 + 3 * MOST_LISTED - 1)
    grown = look(**streams | {newest: (9999, 11, 0)})
    assert decided(grown, recorded, at=NOW + 9) == (newest, None)
    grown = look(**streams | {oldest: (9999, 11, 0)})
    assert decided(grown, recorded, at=NOW + 9) == (None, None)


def test_a_load_that_failed_is_not_asked_for_again_at_once():
    recorded = record(BEFORE, None, None, NOW)
    grown = look(b=BIG, s=(22, 1100, 0), o=OLD, p=OLDER)
    asked, at, waits = None, NOW + 2, []
    for _ in range(9):
        assert decided(grown, recorded, at=at, asked=asked) == ("s", None)
        asked = ask(grown, recorded, asked, at)
        _, wait = decided(grown, recorded, at=at, asked=asked)
        waits.append(wait)
        at += wait
    assert waits == [10, 20, 40, 80, 160, 320, 600, 600, 600]
    # More was written meanwhile: worth a try within a minute.
    more = look(b=BIG, s=(23, 1200, 0), o=OLD, p=OLDER)
    assert decided(more, recorded, at=asked.at + 59, asked=asked)[0] == "nothing"
    assert decided(more, recorded, at=asked.at + 61, asked=asked)[0] == "s"
    # One came through: the next change is loaded as always.
    after = record(grown, recorded, {ord("s")}, at)
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
    return Disk(plan)


def test_equal_disks_look_equal_to_one_who_never_looked_before(home):
    old = disk_of(home)
    first = old.look(TODAY)
    assert len(first.streams) == 4
    assert (
        old.look(TODAY + 5).whole == disk_of(home).look(TODAY + 9).whole == first.whole
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
def test_every_change_is_seen_by_the_next_look(home, change):
    known = disk_of(home)
    before = known.look(TODAY).whole
    CHANGES[change](home)
    after = known.look(TODAY + 5)
    assert after.whole != before
    fresh = disk_of(home).look(TODAY + 5)
    assert after.whole == fresh.whole
    assert dict(after.streams) == dict(fresh.streams)


def test_an_empty_root_that_gets_a_session_later(home):
    shutil.rmtree(home / CLAUDE)
    known = disk_of(home)
    assert not known.look(TODAY).streams
    (home / CLAUDE).mkdir()
    known.look(TODAY + 1)
    (home / CLAUDE / "z").mkdir()
    known.look(TODAY + 2)
    touch(home / CLAUDE / "z/s.jsonl")
    assert len(known.look(TODAY + 3).streams) == 1


def test_an_archived_thread_is_the_same_stream_that_looks_different(home):
    known = disk_of(home, "codex")
    before = known.look(TODAY)
    recorded = record(before, None, None, TODAY)
    archive = home / ".codex/archived_sessions"
    archive.mkdir()
    (home / ".codex/sessions/2026/11/30/rollout-1.jsonl").rename(
        archive / "rollout-1.jsonl"
    )
    after = known.look(TODAY + 5)
    assert list(after.streams) == list(before.streams)
    assert changes(after, recorded) == frozenset(after.streams)


def test_frozen_streams_take_turns_and_thaw_when_touched(home, monkeypatch):
    monkeypatch.setattr(disk, "FROZEN_AT_ONCE", 1)
    asked = Counter()
    look_at = disk.look_at

    def counting(stream, path):
        asked[Path(path).stem] += 1
        return look_at(stream, path)

    known = disk_of(home)
    known.look(TODAY)
    monkeypatch.setattr(disk, "look_at", counting)
    for second in range(1, 5):
        known.look(TODAY + second)
    assert asked.pop("live") == 4
    assert asked == {"one": 1, "two": 1, "three": 1}
    frozen = home / CLAUDE / "a/two.jsonl"
    before = known.look(TODAY + 5).whole
    touch(frozen)  # the folder does not change by that
    known.look(TODAY + 6, touched=[str(frozen)])
    assert known.look(TODAY + 7).whole != before
    asked.clear()
    for second in range(8, 12):
        known.look(TODAY + second)
    assert asked["two"] == asked["live"] == 4


def test_what_cannot_be_looked_at_is_a_stream_and_no_error(home, monkeypatch):
    look_at = disk.look_at

    def forbidden(stream, path):
        if path.endswith("one.jsonl"):
            raise PermissionError(13, "not yours")
        return look_at(stream, path)

    known = disk_of(home)
    monkeypatch.setattr(disk, "look_at", forbidden)
    before = known.look(TODAY)
    assert len(before.streams) == 4
    monkeypatch.setattr(disk, "look_at", look_at)
    assert known.look(TODAY + 100).whole != before.whole


def test_a_database_is_looked_at_every_time_with_what_lies_beside_it(home):
    path = home / "it.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("pragma journal_mode = wal")
        writer.execute("create table rows (id integer)")
        os.utime(path, (TODAY - 9 * DAY, TODAY - 9 * DAY))
        known = Disk(SourcePlan(adapter=Database(path), roots=[path]))
        before = known.look(TODAY).whole
        assert known.look(TODAY + 1).whole == before
        assert Disk(known.plan).look(TODAY + 2).whole == before
        writer.execute("insert into rows values (1)")
        assert known.look(TODAY + 3).whole != before
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

    known = Disk(SourcePlan(adapter=Own(None), roots=[tmp_path]))
    looks = {known.look(TODAY + second).whole for second in range(5)}
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
        if name in known.look(TODAY).streams
    }
