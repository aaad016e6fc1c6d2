"""Lines that records share, on their way through loads: the same, however they come."""

from itertools import count

import pytest
from support.cases import aged
from support.transcripts import Disk, lines, row
from support.warehouses import same, tables

from agentlake.adapters.registry import adapters
from agentlake.pipelines.ingest.replay import replay
from agentlake.pipelines.warehouse.connect import transaction

CUT = row(8)[:90]
SHARED = lines(1) + row(2) + row(3) + CUT + row(4) + lines(5)
FACTS = ("staging", "core")


def calls(lake):
    return lake.rows("select message_id from core.usage order by all")


@pytest.mark.parametrize("cut", [10, len(lines(1)) + 5, len(lines(1, 2)), 700])
def test_a_load_in_two_steps_says_what_one_load_says(new_lake, tmp_path, cut):
    home = tmp_path / "home"
    whole, parts = new_lake(), new_lake()
    disk = Disk(home)
    disk.write(SHARED[:cut])
    parts.load()
    disk.append(SHARED[cut:])
    parts.load()
    whole.load()
    assert calls(whole) == [(f"msg_{n}",) for n in (1, 2, 3, 4, 5)]
    same(*(it.all(*FACTS, without=("load_id",)) for it in (whole, parts)))


def test_a_replay_finds_what_the_load_found(lake):
    Disk(lake.home).write(SHARED)
    lake.load()
    before = lake.all("raw", *FACTS, without=("load_id",))
    with transaction(lake.connection):
        replay(lake.connection, adapters()["claude_code"], count(2).__next__)
    lake.load()
    same(before, tables(lake.connection, "raw", *FACTS, without=("load_id",)))


def test_a_last_line_that_is_old_is_taken_if_it_ends_with_a_record(lake):
    disk = Disk(lake.home)
    disk.write(lines(1) + CUT + row(2))
    aged(disk.session)
    lake.load()
    assert calls(lake) == [("msg_1",), ("msg_2",)]
