"""Databases in every state in which a live agent leaves them, with real writers.

Each is read as a user who is not root (root may not open a log without leaving a
trace), and its directory must be byte for byte and time for time what it was.
"""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentlake.adapters.sdk.contract import Table
from agentlake.adapters.sdk.readers import live, sqlite
from agentlake.pipelines.ingest.signature import signature_of

NOBODY = 65534
IS_ROOT = os.geteuid() == 0
OTHER = [str(NOBODY)] if IS_ROOT else []
WRITER = Path(__file__).with_name("writer.py").read_text()
WAL = "journal_mode=wal, wal_autocheckpoint=0"
ROLLBACK = "journal_mode=delete"
MAKE = "create table item (id integer primary key, stamp integer, pad text)"
ITEMS = Table(name="item", key=("id",), order="id", version="stamp")
ROWS = "with recursive n(i) as (select {} union all select i + 1 from n where i < {}) "


class Writer:
    """A process that has the database open, as long as it is not told otherwise."""

    def __init__(self, path):
        self.path = path
        self._process = subprocess.Popen(
            [sys.executable, "-ISc", WRITER, str(path), *OTHER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=path.parent,
        )

    def __call__(self, *lines):
        for line in lines:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            assert self._process.stdout.readline() == "ok\n", line

    def add(self, first, last):
        insert = f"insert into item {ROWS} select i, 1, 'x' from n"
        self(insert.format(first, last))

    def kill(self):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


@pytest.fixture
def folder():
    """A folder of the unprivileged user's, for pytest's own are the runner's."""
    made = Path(tempfile.mkdtemp(prefix="agentlake-live-"))
    if IS_ROOT:
        os.chown(made, NOBODY, NOBODY)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def writer(folder):
    writers = []

    def make():
        writers.append(Writer(folder / "agent #1?%.db"))
        return writers[-1]

    yield make
    for one in writers:
        one.kill()


@contextmanager
def unprivileged():
    if not IS_ROOT:
        yield
        return
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def tree(folder):
    """Names, sizes, inodes, times, modes and content of all that is in a folder."""
    found = {}
    for path in [folder, *sorted(folder.iterdir())]:
        it = path.stat()
        about = (it.st_ino, it.st_size, it.st_mode, it.st_uid, it.st_mtime_ns)
        content = (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        )
        found[path.name] = (*about, it.st_ctime_ns, content)
    return found


def read(path, **more):
    """What the reader gives, with the directory held against what it was before."""
    before = tree(path.parent)
    with unprivileged():
        signature_of(str(path), "sqlite")
        chunks = list(sqlite.read(str(path), [ITEMS], None, **more))
    assert tree(path.parent) == before
    return [json.loads(one.data) for chunk in chunks for one in chunk.records]


def ids(path):
    return [row["id"] for row in read(path)]


def test_rows_that_are_only_in_the_log_of_a_live_writer_are_read(writer):
    one = writer()
    one(f"open {WAL}", MAKE)
    one.add(1, 100)
    one("pragma wal_checkpoint(truncate)")
    one.add(101, 150)
    assert ids(one.path) == list(range(1, 151))


def test_a_table_that_is_only_in_the_log_is_read(writer):
    one = writer()
    one(f"open {WAL}", MAKE)
    one.add(1, 10)
    assert ids(one.path) == list(range(1, 11))


def test_what_is_not_committed_is_not_read(writer):
    one = writer()
    one(f"open {WAL}", MAKE)
    one.add(1, 10)
    one("begin")
    one.add(11, 20)
    assert ids(one.path) == list(range(1, 11))


def test_a_live_writer_with_an_empty_log(writer):
    one = writer()
    one(f"open {WAL}", MAKE)
    one.add(1, 10)
    one("pragma wal_checkpoint(truncate)")
    assert ids(one.path) == list(range(1, 11))


def test_a_database_that_was_closed_properly(writer):
    one = writer()
    one(f"open {WAL}", MAKE)
    one.add(1, 10)
    one("close")
    assert [path.name for path in one.path.parent.iterdir()] == [one.path.name]
    assert ids(one.path) == list(range(1, 11))


def test_a_writer_that_crashed(writer):
    one = writer()
    one(f"open {WAL}", MAKE)
    one.add(1, 10)
    one("begin")
    one.add(11, 20)
    one("die")
    assert len(list(one.path.parent.iterdir())) == 3
    assert ids(one.path) == list(range(1, 11))


def test_a_log_without_its_index(writer):
    one = writer()
    one(f"open {WAL}", MAKE)
    one.add(1, 10)
    one("die")
    Path(f"{one.path}-shm").unlink()
    assert ids(one.path) == list(range(1, 11))


@pytest.mark.parametrize("state", ["idle", "begin immediate"])
def test_a_database_without_a_log(writer, state):
    one = writer()
    one(f"open {ROLLBACK}", MAKE)
    one.add(1, 10)
    if state != "idle":
        one(state)
    assert ids(one.path) == list(range(1, 11))


def test_a_hot_journal_that_stays_is_rolled_back_in_a_copy(writer):
    one = writer()
    one(f"open {ROLLBACK},cache_size=2,cache_spill=1", MAKE)
    one.add(1, 2000)
    one("begin", "update item set stamp = 2, pad = 'much longer than it was before'")
    one.add(2001, 4000)
    one("die")
    assert Path(f"{one.path}-journal").stat().st_size
    rows = read(one.path)
    assert [row["id"] for row in rows] == list(range(1, 2001))
    assert {row["stamp"] for row in rows} == {1}


def test_an_exclusive_lock_is_waited_for_and_the_database_deferred(writer, monkeypatch):
    monkeypatch.setattr(live, "_BUSY_S", 0.05)
    one = writer()
    one(f"open locking_mode=exclusive,{WAL}", MAKE)
    one.add(1, 10)
    before = tree(one.path.parent)
    with unprivileged():
        try:
            chunks = list(sqlite.read(str(one.path), [ITEMS], None))
        except live.Busy as error:
            assert str(one.path) in str(error)
        else:  # its log could be copied whole
            assert sum(len(chunk.records) for chunk in chunks) == 10
    assert tree(one.path.parent) == before


def test_a_folder_that_may_not_be_written_to(writer):
    one = writer()
    one(f"open {WAL}", MAKE)
    one.add(1, 10)
    one("close")
    one.path.parent.chmod(0o555)
    try:
        assert ids(one.path) == list(range(1, 11))
    finally:
        one.path.parent.chmod(0o700)


def test_as_root_a_log_is_copied_and_nothing_is_touched(writer):
    one = writer()
    one(f"open {WAL}", MAKE)
    one.add(1, 10)
    before = tree(one.path.parent)
    chunks = list(sqlite.read(str(one.path), [ITEMS], None))
    assert sum(len(chunk.records) for chunk in chunks) == 10
    assert tree(one.path.parent) == before


def test_what_is_too_large_to_copy_is_deferred(writer, monkeypatch):
    one = writer()
    one(f"open {WAL}", MAKE)
    one.add(1, 10)
    one("die")
    Path(f"{one.path}-shm").unlink()
    with pytest.raises(live.Busy, match="only be read as a copy"):
        list(live.pages(str(one.path), lambda *_: ([], None), 0, most_copied=100))


def test_what_is_no_database_is_said_to_be_none(folder, monkeypatch):
    monkeypatch.setattr(live.time, "sleep", lambda _: None)
    path = folder / "it.db"
    path.write_bytes(b"no database at all" * 20)
    with pytest.raises((live.Busy, sqlite3.DatabaseError)):
        list(sqlite.read(str(path), [ITEMS], None))


def test_every_commit_is_seen_even_if_the_log_keeps_its_size_and_salts(writer):
    """The steady state of an agent that never closes: the log is used again."""
    one = writer()
    one(f"open {WAL}", MAKE)
    one.add(1, 50_000)
    one("pragma wal_checkpoint(restart)", "update item set stamp = 0 where id = 1")
    seen = signature_of(str(one.path), "sqlite")
    log = Path(f"{one.path}-wal")
    size, header = log.stat().st_size, log.read_bytes()[:32]
    for stamp in range(1, 41):
        one(f"update item set stamp = {stamp} where id = 1")
        now = signature_of(str(one.path), "sqlite")
        assert not now.is_unchanged(seen), stamp
        assert signature_of(str(one.path), "sqlite").is_unchanged(now)
        seen = now
    assert (log.stat().st_size, log.read_bytes()[:32]) == (size, header)


def test_readers_do_not_make_a_database_look_changed(writer):
    one = writer()
    one(f"open {WAL}", MAKE)
    one.add(1, 10)
    before = signature_of(str(one.path), "sqlite")
    for _ in range(3):
        read(one.path)
    assert signature_of(str(one.path), "sqlite").is_unchanged(before)


@pytest.mark.parametrize(
    ("mode", "how"),
    [(WAL, ""), (WAL, "reopen"), (WAL, "kill"), (ROLLBACK, ""), (ROLLBACK, "kill")],
)
@pytest.mark.slow
def test_no_reading_is_torn_while_all_rows_are_rewritten(writer, mode, how):
    one = writer()
    one(f"open {mode}", MAKE)
    one.add(1, 1000)
    one(f"rewrite {how}")
    seen = Counter()
    start = time.monotonic()
    while time.monotonic() < start + (2 if seen["whole"] else 60):
        try:
            with unprivileged():
                chunks = list(sqlite.read(str(one.path), [ITEMS], None))
        except live.Busy:
            seen["busy"] += 1
            continue
        rows = [json.loads(it.data) for chunk in chunks for it in chunk.records]
        stamps = {row["stamp"] for row in rows}
        assert len(rows) == 1000
        assert len(stamps) == 1, sorted(stamps)
        seen["whole"] += 1
        if how == "kill":
            one.kill()
            one = writer()
            one("open busy_timeout=5000", "rewrite")
    assert seen["whole"] > 0, seen
