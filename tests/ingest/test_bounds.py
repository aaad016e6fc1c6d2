"""However much there is to read, little of it is in memory; the result is the same."""

import random

import pytest
from support.cases import CASES, copied, plans_apart
from support.transcripts import Disk, lines
from support.warehouses import is_consistent, same, tables

from agentlake.adapters.sdk.readers import jsonl
from agentlake.pipelines.ingest import keyed, read, write

ROWS = ("raw", "staging")
WITHOUT = ("load_id",)


def rows(lake):
    return tables(lake.connection, *ROWS, without=WITHOUT)


@pytest.mark.parametrize("seen", [1, 3, 10, 10**6])
def test_lines_are_forgotten_and_raw_is_asked_how_often_they_came(
    seen, lake, monkeypatch
):
    order = random.Random(seen)
    numbers = [order.randrange(order.choice([9, 999])) for _ in range(99)]
    disk = Disk(lake.home)
    monkeypatch.setattr(read, "MOST_SEEN", seen)
    monkeypatch.setitem(jsonl.read.__kwdefaults__, "chunk", 4_000)
    for part in (numbers[:60], numbers[60:]):
        disk.append(lines(*part))
        lake.load(fresh=False)
    keys = "select count(*), count(distinct record_key), max(generation)"
    assert lake.rows(f"{keys} from raw.claude_code") == [(99, 99, 0)]
    times = "select content_hash, count(*) from raw.claude_code group by all"
    assert sorted(n for _, n in lake.rows(times)) == sorted(
        numbers.count(number) for number in set(numbers)
    )
    is_consistent(lake)
    disk.write(lines(*numbers[30:], 1000))  # from the start, with what raw has
    lake.load(fresh=False)
    assert lake.one("select count(*) from raw.claude_code") == 100


def test_tiny_lines_are_taken_in_smaller_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(jsonl, "MOST_LINES", 100)
    file = tmp_path / "tiny.jsonl"
    file.write_bytes(b"".join(b'{"a":%d}\n' % number for number in range(30_000)))
    batches = [batch.lines for batch in jsonl.read(str(file), None, chunk=64 << 10)]
    found = [line for batch in batches for line in batch]
    assert [line.seq for line in found] == list(range(30_000))
    assert max(map(len, batches[3:])) < 600


def test_small_parts_give_what_large_ones_give(new_lake, tmp_path, monkeypatch):
    """Transactions of few records, and documents in many pieces."""
    homes = tmp_path / "homes"
    for case in CASES:
        copied(case, homes / f"{case.source}.{case.name}")
    whole, parts = new_lake(), new_lake()
    whole.load(plans_apart(homes), fresh=False)
    monkeypatch.setattr(keyed, "_AT_ONCE", 1)
    monkeypatch.setattr(write, "COMMIT_RECORDS", 50)
    monkeypatch.setattr(read, "MOST_SEEN", 1)
    parts.load(plans_apart(homes), fresh=False)
    same(rows(whole), rows(parts))
