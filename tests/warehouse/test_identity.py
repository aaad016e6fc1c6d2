"""Every row of raw tells the machine on which it was read."""

import json
import multiprocessing
import stat

import pytest
from support.transcripts import lines
from support.warehouses import refreshed

from agentlake.errors import UserError
from agentlake.pipelines.warehouse.identity import machine_file, machine_of

MACHINES = """
    select machine.name, count(*)
    from raw.claude_code
    inner join meta.loads using (load_id)
    inner join meta.machines as machine using (machine_id)
    group by all order by all
"""


def write(home, name, *numbers):
    folder = home / ".claude/projects/-x"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.jsonl").open("ab") as file:
        file.write(lines(*numbers, sessionId=name))


def rename(path, name):
    machine = json.loads(machine_file(path).read_text())
    machine_file(path).write_text(json.dumps(machine | {"name": name}))


def test_the_id_is_made_once_is_the_users_alone_and_can_be_given_a_name(tmp_path):
    path = tmp_path / "lake.duckdb"
    machine = machine_of(path)
    assert len(machine.id) == 32
    assert machine.name
    assert stat.S_IMODE(machine_file(path).stat().st_mode) == 0o600
    rename(path, "desk")
    assert machine_of(path) == type(machine)(machine.id, "desk")
    assert [one.name for one in tmp_path.iterdir()] == [".lake.duckdb.machine"]


def test_two_that_begin_at_once_agree_on_the_id(tmp_path):
    paths = [tmp_path / "lake.duckdb"] * 16
    with multiprocessing.get_context("fork").Pool(8) as pool:
        assert len(set(pool.map(machine_of, paths, chunksize=1))) == 1


@pytest.mark.parametrize("content", [b"", b"{}", b'{"id": 5, "name": "x"}', b"\xff"])
def test_a_damaged_file_is_named_and_never_replaced(content, tmp_path):
    file = machine_file(tmp_path / "lake.duckdb")
    file.write_bytes(content)
    with pytest.raises(UserError, match=r"\.lake\.duckdb\.machine"):
        machine_of(tmp_path / "lake.duckdb")
    assert file.read_bytes() == content


def test_rows_tell_where_they_were_read_also_after_a_move(lake):
    write(lake.home, "one", 1, 2, 3)
    lake.load()
    lake.close()
    rename(lake.path, "old")
    write(lake.home, "one", 4)
    lake.load()
    assert lake.rows(MACHINES) == [("old", 4)]  # renamed: still the same machine
    lake.close()
    machine_file(lake.path).unlink()  # the warehouse goes on on another machine
    rename_to = machine_of(lake.path)
    rename(lake.path, "new")
    write(lake.home, "one", 5, 6)
    lake.load()
    assert lake.rows(MACHINES) == [("new", 2), ("old", 4)]
    assert lake.rows(
        "select name from meta.machines where machine_id = $$" + (rename_to.id + "$$")
    ) == [("new",)]


def test_a_warehouse_keeps_its_id_and_each_has_another(new_lake, tmp_path):
    ask = "select value from meta.settings where name = 'warehouse_id'"
    lake = new_lake()
    before = lake.one(ask)
    write(lake.home, "one", 1)
    lake.load()
    assert lake.one(ask) == before
    other = type(lake)(tmp_path / "other.duckdb", lake.home)
    other.load()
    assert other.one(ask) != before
    other.close()


def test_a_warehouse_of_before_says_nothing_of_where_its_rows_were_read(lake):
    write(lake.home, "one", 1)
    lake.load()
    for query in (
        "alter table meta.loads drop column machine_id",
        "drop table meta.machines",
        "delete from meta.settings where name in ('schema', 'warehouse_id')",
    ):
        lake.connection.execute(query)
    lake.close()
    write(lake.home, "one", 2)
    lake.load()
    refreshed(lake.connection)
    rows = lake.rows("select machine_id is null from meta.loads order by load_id")
    assert rows == [(True,), (False,)]
    assert lake.one("select count(*) from meta.machines") == 1
