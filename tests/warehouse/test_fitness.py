"""Doctor says that all is well only where a load would work."""

from pathlib import Path

import pytest

from agentlake.pipelines.warehouse.files import vault_of
from agentlake.pipelines.warehouse.fitness import obstacles


def spoil(path):
    path.write_bytes(b"\0" * path.stat().st_size)


def test_a_damaged_vault_is_told_with_the_command_that_mends_it(own):
    assert obstacles(own.warehouse) == []
    spoil(vault_of(own.warehouse))
    assert own("doctor") == 1
    assert f"agentlake restore {own.warehouse}" in own.out
    assert "All is well" not in own.out


def test_a_damaged_copy_is_told(own):
    spoil(own.warehouse)
    assert own("doctor") == 1
    assert f"! {own.warehouse}: cannot be opened" in own.out


def test_a_place_where_no_file_can_be_made_is_told(fresh, tmp_path):
    file = tmp_path / "file"
    file.touch()
    assert fresh("--warehouse", file / "lake.duckdb", "doctor") == 1
    assert f"! {file}: is not a folder" in fresh.out


@pytest.mark.parametrize(("free", "said"), [(0, 1), (1 << 40, 0)])
def test_a_full_disk_is_told_before_a_load_finds_it(free, said, own):
    asked = []

    def free_at(folder: Path) -> int:
        asked.append(folder)
        return free

    found = obstacles(own.warehouse, free_at)
    assert len(found) == said
    assert asked == [own.warehouse.parent]
    assert all("Make room there" in one for one in found)


def test_streams_that_wait_are_not_all_well(fresh):
    file = fresh.home / ".claude/projects/p/s.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text('{"type": "summary", "summary": "x", "leafUuid": "y"}\n')
    assert fresh("doctor") == 0
    assert fresh.out.endswith("1 stream waits for `agentlake load`.\n")


def test_every_file_of_the_warehouse_is_named_with_its_size(own):
    names = own.json("doctor", "--json")["files"]
    assert {own.warehouse.name, vault_of(own.warehouse).name} <= names.keys()
    assert all(
        names[name] == own.warehouse.with_name(name).stat().st_size for name in names
    )
    assert own("doctor") == 0
    assert own.warehouse.name in own.out
    assert "on disk" in own.out
