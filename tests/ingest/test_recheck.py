"""What no load could see is found by reading everything again, and then loaded."""

import os
import sqlite3

import pytest
from support.cases import CASES, copied, plans
from support.transcripts import Disk, lines, row

from agentlake.pipelines.ingest.recheck import read_anew, recheck
from agentlake.pipelines.warehouse.connect import transaction


def unseen(lake):
    """What differs, as (line, key, is gone), and the streams that it is in."""
    found = [recheck(lake.connection, plan) for plan in plans(lake.home)]
    assert not [one.unreadable for one in found if one.unreadable]
    told = [(it.line, it.is_gone) for one in found for it in one.unseen]
    return told, [id_ for one in found for id_ in one.stream_ids]


def mend(lake, ids):
    with transaction(lake.connection):
        read_anew(lake.connection, ids)
    lake.load(fresh=False)
    assert unseen(lake) == ([], [])


def rewrite(path, data):
    """Write other content and let the file look as before."""
    status = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def calls(lake):
    return [
        it for (it,) in lake.rows("select message_id from staging.usage order by 1")
    ]


def test_a_file_rewritten_with_its_old_size_and_time(lake):
    disk = Disk(lake.home)
    disk.write(lines(1, 2, 3))
    lake.load(fresh=False)
    assert unseen(lake) == ([], [])
    rewrite(disk.session, lines(1, 7, 3))
    assert lake.load(fresh=False).total("read") == 0
    told, ids = unseen(lake)
    assert told == [(2, False)]
    mend(lake, ids)
    assert calls(lake) == ["msg_1", "msg_2", "msg_3", "msg_7"]


def test_a_line_changed_in_the_middle_and_one_appended(lake):
    disk = Disk(lake.home)
    many = range(10, 99)
    disk.write(lines(*many))
    lake.load(fresh=False)
    changed = lines(*many).replace(row(50), row(99))
    disk.write(changed + lines(100))
    lake.load(fresh=False)
    assert "msg_99" not in calls(lake)
    disk.append(lines(101))  # this one the next load finds by itself
    told, ids = unseen(lake)
    assert told == [(41, False)]
    mend(lake, ids)
    assert {"msg_50", "msg_99", "msg_100", "msg_101"} < set(calls(lake))


def test_a_document_rewritten_with_its_old_size_and_time(lake):
    (case,) = [one for one in CASES if one.id == "gemini_cli/moved_project"]
    copied(case, lake.home / "case")
    lake.home = lake.home / "case"
    lake.load(fresh=False)
    (path,) = [
        one for one in lake.home.rglob("*.json") if b"gemini" in one.read_bytes()
    ]
    rewrite(path, path.read_bytes().replace(b'"input":', b'"inpuT":', 1))
    told, ids = unseen(lake)
    assert told
    mend(lake, ids)


def test_a_row_changed_where_no_cursor_looks(lake):
    (case,) = [one for one in CASES if one.id == "opencode/steps"]
    copied(case, lake.home / "case")
    lake.home = lake.home / "case"
    lake.load(fresh=False)
    (path,) = lake.home.rglob("opencode.db")
    with sqlite3.connect(path) as database:
        database.execute(
            "update message set data = replace(data, 'assistant', 'asristant')"
            " where rowid = (select max(rowid) from message"
            " where data like '%assistant%')"
        )
    database.close()
    lake.load(fresh=False)  # their time of change is as it was
    told, ids = unseen(lake)
    assert told == [(None, False)]
    mend(lake, ids)


@pytest.mark.parametrize("golden", CASES[::9], ids=lambda it: it.id)
def test_what_was_loaded_is_on_disk_as_it_was_loaded(lake, golden):
    copied(golden, lake.home / "case")
    lake.home = lake.home / "case"
    lake.load(fresh=False)
    found = [recheck(lake.connection, plan) for plan in plans(lake.home)]
    assert [it for one in found for it in one.unseen] == []
