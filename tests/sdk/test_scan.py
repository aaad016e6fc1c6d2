"""Looking at folders: bounded, within the roots, and what is in the way is noted."""

import os
import socket

import pytest

from agentlake.adapters.sdk.files import content, open_plain
from agentlake.adapters.sdk.scan import (
    beside,
    files_below,
    folders_below,
    folders_holding,
    folders_in,
    is_file,
    leads_out,
    matching,
    within,
)


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "root"
    for name in ("a/b/1.jsonl", "a/2.jsonl", "c/3.jsonl", "c/note.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("{}\n")
    return root


def below(root, paths):
    return [os.path.relpath(path, root) for path in paths]


ALL = ["a/2.jsonl", "a/b/1.jsonl", "c/3.jsonl", "c/note.txt"]


def test_every_file_below_is_found_once_in_order(root):
    assert below(root, files_below(str(root))) == ALL
    assert below(root, matching(str(root), "*/*.jsonl")) == ["a/2.jsonl", "c/3.jsonl"]
    assert below(root, matching(str(root), "a/b/1.jsonl")) == ["a/b/1.jsonl"]
    assert below(root, folders_in(str(root))) == ["a", "c"]
    assert below(root, folders_in(str(root), "a/*")) == ["a/b"]
    assert below(root, sorted(folders_below(str(root)))) == [".", "a", "a/b", "c"]
    assert below(root, folders_holding(str(root), "b", 2)) == ["a"]
    assert below(root, folders_holding(str(root), "b", 1)) == []
    for look in (files_below, folders_in):
        assert look(str(root / "none")) == []
        assert look(str(root / "c/note.txt")) == []


def test_a_link_within_the_roots_is_followed_once(root, tmp_path):
    (root / "c/to_a").symlink_to(root / "a")
    (root / "c/self").symlink_to(root / "c/self")
    (root / "c/up").symlink_to("..")
    (root / "nowhere").symlink_to(tmp_path / "nothing")
    with within([str(root)]) as noted:
        assert below(root, files_below(str(root))) == sorted([*ALL, "c/self"])
        assert below(root, files_below(str(root / "c"))) == [
            "c/3.jsonl",
            "c/note.txt",
            "c/self",
            "c/to_a/2.jsonl",
            "c/to_a/b/1.jsonl",
        ]
    assert (noted.unseen, noted.led_out) == ({}, {})


def test_what_leads_out_is_noted_and_not_followed(root, tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/key.jsonl").write_text("secret")
    (root / "a/out").symlink_to(tmp_path / "secret")
    (root / "a/key.jsonl").symlink_to("../../secret/key.jsonl")
    (root / "a/all").symlink_to("/")
    with within([str(root)]) as noted:
        assert below(root, files_below(str(root))) == ALL
        assert below(root, matching(str(root), "a/*.jsonl")) == ["a/2.jsonl"]
        assert matching(str(root), "a/out/key.jsonl") == []
        assert not is_file(root / "a/key.jsonl")
        assert beside(root / "a/key.jsonl") is None
    assert noted.led_out == {
        str(root / "a/out"): str(tmp_path / "secret"),
        str(root / "a/key.jsonl"): str(tmp_path / "secret/key.jsonl"),
        str(root / "a/all"): "/",
    }
    assert leads_out(str(root))
    assert not leads_out(str(root / "c"))
    assert below(root, files_below(str(root / "a"))) == [
        "a/2.jsonl",
        "a/b/1.jsonl",
        "a/key.jsonl",  # nobody said where the roots are
    ]


def test_a_root_may_be_a_link_and_a_link_may_lead_into_another_root(root, tmp_path):
    (tmp_path / "link").symlink_to(root)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/4.jsonl").touch()
    (root / "c/other").symlink_to(tmp_path / "other")
    with within([str(tmp_path / "link"), str(tmp_path / "other")]) as noted:
        found = below(tmp_path / "link", files_below(str(tmp_path / "link")))
    assert found == sorted([*ALL, "c/other/4.jsonl"])
    assert noted.led_out == {}


def test_links_from_everywhere_to_everywhere_take_no_time(root):
    for one in range(12):
        (root / f"d{one}").mkdir()
        for other in range(12):
            (root / f"d{one}/to{other}").symlink_to(root / f"d{other}")
    with within([str(root)]):
        assert below(root, files_below(str(root))) == ALL


def test_a_log_without_its_database_stands_for_it(root):
    (root / "a/x.db-wal").write_bytes(b"x" * 33)
    (root / "a/y.db-wal").write_bytes(b"x" * 32)
    for name in ("z.db", "z.db-wal"):
        (root / "a" / name).write_bytes(b"x" * 33)
    with within([str(root)]):
        assert "a/x.db" in below(root, files_below(str(root)))
        assert below(root, matching(str(root), "a/*.db")) == ["a/x.db", "a/z.db"]
        assert below(root, matching(str(root), "a/x.db")) == ["a/x.db"]
        assert matching(str(root), "a/y.db") == []


@pytest.fixture
def pipe(root):
    os.mkfifo(root / "pipe")
    return root / "pipe"


@pytest.fixture
def plug(root):
    with socket.socket(socket.AF_UNIX) as it:
        it.bind(str(root / "plug"))
    return root / "plug"


@pytest.mark.parametrize("kind", ["pipe", "plug"])
def test_nobody_waits_for_what_is_no_file(request, root, kind):
    odd = request.getfixturevalue(kind)
    for reads in (open_plain, content):
        with pytest.raises(OSError, match="not a plain file"):
            reads(str(odd))
        with pytest.raises(OSError, match="not a plain file"):
            reads("/dev/zero")
    with within([str(root)]) as noted:
        assert not is_file(odd)
        assert beside(odd) is None
    assert noted.unseen == {str(odd): "not a plain file"}
