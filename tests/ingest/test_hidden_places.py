"""What cannot be looked at, or leads elsewhere: said, and it costs nothing else."""

import os
import socket
import sqlite3

import pytest
from support.cases import CASES, copied, plans
from support.powers import shut
from support.transcripts import Disk, lines

from agentlake.adapters.registry import adapters
from agentlake.adapters.sdk.roots import Root
from agentlake.pipelines.ingest.listing import SourcePlan, list_streams
from agentlake.pipelines.settings.places import look_for
from agentlake.pipelines.settings.settings import load_settings


def deferred(report):
    return {
        source: dict(one.deferred)
        for source, one in report.sources.items()
        if one.deferred
    }


@pytest.mark.parametrize("source", sorted({case.source for case in CASES}))
def test_a_folder_that_lets_nobody_in_stops_nothing(lake, tmp_path, source):
    """Whichever agent's it is, and also for the questions of its health."""
    Disk(lake.home).write(lines(1))
    case = next(case for case in CASES if case.source == source)
    home = copied(case, tmp_path / "case")
    ((own,),) = [[one.roots] for one in plans(home) if source == one.adapter.SOURCE]
    others = [one for one in plans(lake.home) if source != one.adapter.SOURCE]
    now = [*others, SourcePlan(adapter=adapters()[source], roots=own)]
    with shut(*own):
        report = lake.load(now, fresh=False)
        for root in own:
            if tell := getattr(adapters()[source], "health", None):
                tell(str(root))
    assert set(deferred(report)[source]) == {str(root) for root in own}
    assert source == "claude_code" or report.total("records") == 1
    again = lake.load(now, fresh=False)
    assert again.sources[source].records > 0
    assert again.complete


def test_what_is_in_a_folder_that_shut_is_not_missing(lake, tmp_path):
    disk = Disk(lake.home)
    disk.write(lines(1))
    lake.load(fresh=False)
    ids = "select stream_id from meta.streams where missing_since is not null"
    with shut(disk.claude):
        report = lake.load(fresh=False)
    assert deferred(report) == {"claude_code": {str(disk.claude): "Permission denied"}}
    assert lake.rows(ids) == []
    disk.session.unlink()
    assert lake.load(fresh=False).complete
    assert len(lake.rows(ids)) == 1


def test_a_place_above_which_nobody_gets_in_is_unseen(tmp_path):
    home = tmp_path / "home"
    (home / ".config/Code/User").mkdir(parents=True)
    settings = load_settings(
        config=None, home=home, warehouse=None, environ={}, known_sources=()
    )
    roots = (Root(default=("~/.config/Code/User", "~/.config/Cursor/User", "~/.no")),)
    with shut(home / ".config"):
        places = look_for(roots, settings, "x", {})
    assert places == ([], {str(home / ".config"): "Permission denied"})


class Breaks:
    """A source whose code breaks wherever it is told to."""

    SOURCE, PARSER_VERSION, ROOTS = "acme", 1, (Root(default=("~/.acme",)),)

    def __init__(self, good, *, at=None, error=None):
        self._good, self._at, self._error = good, at, error

    def discover(self, root, options):
        for stream in self._good.discover(root, options):
            yield stream
            if self._at in root:
                raise self._error

    def parse(self, record):
        yield from self._good.parse(record)
        if self._at == "parse":
            raise self._error


ERRORS = [
    OSError(5, "Input/output error"),
    PermissionError(13, "Permission denied"),
    RecursionError("maximum recursion depth exceeded"),
    MemoryError(),
    SystemExit(3),
    UnboundLocalError("piece"),
    AssertionError(),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda it: type(it).__name__)
def test_an_adapter_that_breaks_in_one_root_is_asked_for_the_other(tmp_path, error):
    roots = [tmp_path / name for name in ("bad", "good")]
    for root in roots:
        folder = root / "projects/-x"
        folder.mkdir(parents=True)
        (folder / f"{root.name}.jsonl").touch()
    broken = Breaks(adapters()["claude_code"], at="bad", error=error)
    found = list_streams(SourcePlan(adapter=broken, roots=roots))
    assert [stream.key[-9:] for _, stream in found.streams.values()] == [
        "bad.jsonl",
        "ood.jsonl",
    ]
    assert found.problems or found.unseen
    assert found.hides(str(roots[0] / "projects/x"))
    assert not found.hides(str(roots[1] / "projects/x"))


@pytest.mark.parametrize("error", ERRORS, ids=lambda it: type(it).__name__)
def test_an_adapter_that_breaks_while_it_parses_costs_its_streams(lake, error):
    disk = Disk(lake.home)
    disk.write(lines(1))
    broken = Breaks(adapters()["claude_code"], at="parse", error=error)
    now = [SourcePlan(adapter=broken, roots=[lake.home / ".claude"]), *plans(lake.home)]
    report = lake.load(now, fresh=False)
    assert report.sources["claude_code"].records == 1
    assert report.sources["acme"].rejects or report.sources["acme"].deferred


class Own:
    """A source that reads itself, in odd ways."""

    SOURCE, PARSER_VERSION, ROOTS = "acme", 1, ()

    def __init__(self, chunks):
        self._chunks = chunks

    def discover(self, root, options):
        from agentlake.adapters.sdk.contract import Stream

        yield Stream(path="acme", key="acme", reader="own")

    def read(self, stream, cursor, options):
        return self._chunks()

    def parse(self, record):
        return ()


def test_a_reader_that_gives_nothing_has_read_to_the_end(lake):
    report = lake.load([SourcePlan(adapter=Own(lambda: iter(())), roots=[])])
    assert report.complete
    assert lake.rows("select status, records from meta.streams") == [("loaded", 0)]


@pytest.mark.parametrize("given", [None, 5, [None], [5]], ids=repr)
def test_a_reader_that_gives_what_is_no_chunk_is_deferred(lake, given):
    Disk(lake.home).write(lines(1))
    odd = SourcePlan(adapter=Own(lambda: given), roots=[])
    report = lake.load([odd, *plans(lake.home)], fresh=False)
    assert list(deferred(report)) == ["acme"]
    assert report.sources["claude_code"].records == 1


# -- links that lead out


def test_a_link_out_of_the_folders_is_not_read_and_said(lake, tmp_path):
    disk = Disk(lake.home)
    disk.write(lines(1))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "other.jsonl").write_bytes(lines(2))
    (disk.claude / "link.jsonl").symlink_to(elsewhere / "other.jsonl")
    (disk.claude.parent / "-link").symlink_to(elsewhere)
    (disk.claude / "all").symlink_to("/")
    report = lake.load(fresh=False)
    assert report.complete
    assert report.total("records") == 1
    assert dict(report.sources["claude_code"].led_out) == {
        str(disk.claude / "link.jsonl"): str(elsewhere / "other.jsonl"),
        str(disk.claude.parent / "-link"): str(elsewhere),
        str(disk.claude / "all"): "/",
    }


# -- what is no file


@pytest.mark.parametrize("kind", ["pipe", "socket", "folder"])
@pytest.mark.parametrize("beside", ["", "-wal", "-shm", "-journal"])
def test_what_is_no_file_at_the_place_of_a_database_keeps_nobody_waiting(
    lake, kind, beside
):
    Disk(lake.home).write(lines(1))
    database = lake.home / ".hermes/state.db"
    database.parent.mkdir()
    if beside:
        with sqlite3.connect(database) as made:
            made.execute("create table sessions (id)")
        made.close()
    odd = database.with_name(f"state.db{beside}")
    if kind == "pipe":
        os.mkfifo(odd)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as it:
            it.bind(str(odd))
    else:
        odd.mkdir()
    report = lake.load(fresh=False)
    assert report.sources["claude_code"].records == 1
    if kind != "folder" or beside:
        assert deferred(report) == {"hermes": {str(database): "not a plain file"}}


# -- databases that are not whole


def test_an_empty_database_is_nothing(lake):
    (lake.home / ".hermes").mkdir()
    (lake.home / ".hermes/state.db").touch()
    assert lake.load(fresh=False).complete
    assert lake.load(fresh=False).complete


@pytest.mark.parametrize(
    "place",
    [
        ".hermes/state.db",
        ".local/share/opencode/opencode.db",
        ".codex/state_5.sqlite",
        ".copilot/session-store.db",
        ".gemini/antigravity/conversations/1.db",
        ".cursor/chats/a/b/store.db",
    ],
)
def test_a_log_without_its_database_is_said(lake, place):
    database = lake.home / place
    database.parent.mkdir(parents=True)
    database.with_name(f"{database.name}-wal").write_bytes(b"x" * 100)
    ((path, why),) = next(iter(deferred(lake.load(fresh=False)).values())).items()
    assert path == str(database)
    assert "only its write-ahead log is there" in why


POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    b"size 12345\n"
)


@pytest.mark.parametrize(
    "place",
    [
        ".claude/projects/-x/aaaaaaaa-0000-4000-8000-000000000009.jsonl",
        ".claude/projects/-x/a/subagents/agent-1.meta.json",
        ".gemini/tmp/shop/chats/session-2026-08-01T10-00-cccccccc.json",
        ".hermes/state.db",
        ".cursor/chats/a/b/store.db",
        ".factory/sessions/-x/a.settings.json",
    ],
)
def test_what_git_lfs_has_not_fetched_is_one_reject(lake, place):
    file = lake.home / place
    file.parent.mkdir(parents=True)
    file.write_bytes(POINTER)
    report = lake.load()
    assert report.complete
    rejects = lake.rows("select reason from meta.rejects")
    assert len(rejects) == 1
    assert "Git LFS pointer" in rejects[0][0]
    assert lake.load().total("records") == 0


def test_what_git_lfs_fetches_later_is_loaded(lake):
    disk = Disk(lake.home)
    disk.write(POINTER + lines(1))
    lake.load()
    disk.write(lines(2, 3))
    lake.load()
    calls = "select message_id from core.usage order by all"
    assert lake.rows(calls) == [("msg_1",), ("msg_2",), ("msg_3",)]
