"""Which files are a warehouse, which never become one, and how one is restored."""

import os
import shutil
import sqlite3
import subprocess
import sys

import duckdb
import pytest

from agentlake.pipelines.warehouse import copy_closed
from agentlake.pipelines.warehouse.files import vault_of

pytestmark = pytest.mark.slow


def snapshot(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    "name",
    ["lake.vault.duckdb", ".lake.duckdb.spare", ".lake.duckdb.copying", ".x.y.old"],
)
@pytest.mark.parametrize(
    "command", [["load"], ["report", "daily"], ["sql", "select 1"], ["replay"]]
)
def test_a_file_beside_a_warehouse_is_refused_as_one(name, command, own):
    before = snapshot(own.warehouse.parent)
    place = own.warehouse.with_name(name)
    assert own("--warehouse", place, *command) == 2
    assert "Nothing was changed" in own.err or "no warehouse yet" in own.err
    assert snapshot(own.warehouse.parent) == before


def foreign_duckdb(path):
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table sales as select 1 as amount")


def foreign_sqlite(path):
    connection = sqlite3.connect(path)
    connection.execute("create table sales (amount)")
    connection.close()


FOREIGN = {
    "another DuckDB database": (foreign_duckdb, "main.sales"),
    "SQLite": (foreign_sqlite, "is not a DuckDB file"),
    "text": (lambda path: path.write_text("dear diary\n" * 9), "is not a DuckDB file"),
    "a folder": (lambda path: path.mkdir(), "is not a file"),
    "a pipe": (os.mkfifo, "is not a file"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_of_somebody_else_is_left_as_it_is(kind, fresh, tmp_path):
    make, message = FOREIGN[kind]
    place = tmp_path / "theirs.duckdb"
    make(place)
    before = snapshot(tmp_path)
    assert fresh("--warehouse", place, "load") == 2
    assert message in fresh.err
    assert snapshot(tmp_path) == before
    assert not vault_of(place).exists()


def test_an_empty_file_is_as_good_as_no_warehouse(fresh, tmp_path):
    place = tmp_path / "new.duckdb"
    place.touch()
    assert fresh("--warehouse", place, "load") == 0
    assert fresh("--warehouse", place, "sql", "from core.usage") == 0


def test_a_link_to_a_warehouse_stays_a_link(own, tmp_path):
    real = tmp_path / "disk"
    real.mkdir()
    link = tmp_path / "link.duckdb"
    link.symlink_to(real / "lake.duckdb")
    assert own("--warehouse", link, "load") == 0
    assert own("--warehouse", link, "load") == 0
    assert link.is_symlink()
    assert {path.name for path in real.iterdir()} >= {
        "lake.duckdb",
        "lake.vault.duckdb",
    }
    assert not vault_of(link).exists()


@pytest.mark.parametrize("beside", [copy_closed.new_of, copy_closed.guard_of])
@pytest.mark.parametrize("kind", ["a link", "a pipe"])
def test_what_stands_where_a_copy_is_made_is_never_written_through(beside, kind, own):
    theirs = own.warehouse.with_name("theirs.txt")
    theirs.write_text("dear diary")
    place = beside(own.warehouse)
    place.unlink(missing_ok=True)
    place.symlink_to(theirs) if kind == "a link" else os.mkfifo(place)
    with own.claude[0].open("a") as file:
        file.write('{"type": "summary", "summary": "x", "leafUuid": "y"}\n')
    assert own("load", "--quiet") == 0
    assert theirs.read_text() == "dear diary"
    assert (
        own.json("sql", "--json", "select count(*) as n from core.usage")[0]["n"] == 3
    )


@pytest.mark.parametrize("of", [lambda path: path, vault_of])
@pytest.mark.parametrize("command", ["sql", "export"])
def test_an_export_never_replaces_the_warehouse(of, command, own):
    before = snapshot(own.warehouse.parent)
    place = of(own.warehouse)
    words = ["sql", "select 1", "--parquet", place]
    if command == "export":
        words = ["export", place, "--query", "select 1"]
    assert own(*words) == 2
    assert "Choose another name" in own.err or "Give" in own.err
    assert snapshot(own.warehouse.parent) == before


def damage(path):
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.write(b"\0" * min(size, 64 << 10))


def test_a_damaged_vault_says_which_command_mends_it(own):
    vault = vault_of(own.warehouse)
    damage(vault)
    spoilt = vault.read_bytes()
    assert own("load") == 2
    assert f"agentlake restore {own.warehouse}" in own.err
    assert vault.read_bytes() == spoilt

    assert own("restore", own.warehouse) == 0
    (kept,) = own.warehouse.parent.glob("*.before-*.duckdb")
    assert kept.read_bytes() == spoilt
    assert own("load") == 0
    assert (
        own.json("sql", "--json", "select count(*) as n from core.usage")[0]["n"] == 3
    )
    assert own("verify") == 0


def test_a_backup_is_gone_on_from_and_what_came_later_is_loaded_again(own, tmp_path):
    backup = tmp_path / "backup.duckdb"
    shutil.copyfile(own.warehouse, backup)
    last = own.claude[0].read_text().splitlines()[-1].replace("msg_0", "msg_new")
    with own.claude[0].open("a") as file:
        file.write(last.replace("msg_1", "msg_new") + "\n")
    own("load", "--quiet")
    count = "select count(*) as n from core.usage"
    later = own.json("sql", "--json", count)[0]["n"]
    assert own("restore", backup) == 0
    assert own.json("sql", "--json", count)[0]["n"] == 3
    own("load", "--quiet")
    assert own.json("sql", "--json", count)[0]["n"] == later


@pytest.mark.parametrize("kind", ["damaged", "missing", "foreign", "empty"])
def test_what_cannot_be_restored_changes_nothing(kind, own, tmp_path):
    backup = tmp_path / "backup.duckdb"
    if kind == "damaged":
        shutil.copyfile(own.warehouse, backup)
        with backup.open("r+b") as file:
            file.seek(backup.stat().st_size // 2)
            file.write(os.urandom(512 << 10))
    elif kind == "foreign":
        foreign_duckdb(backup)
    elif kind == "empty":
        backup.touch()
    before = snapshot(own.warehouse.parent)
    assert own("restore", backup) == 2
    assert str(backup) in own.err
    assert snapshot(own.warehouse.parent) == before


def test_nothing_is_restored_while_a_load_writes(own):
    before = snapshot(own.warehouse.parent)
    script = (
        "import duckdb, sys; c = duckdb.connect(sys.argv[1]);"
        " print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(vault_of(own.warehouse))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as writer:
        writer.stdout.readline()
        assert own("restore", own.warehouse) == 2
        assert "a load writes to it now" in own.err
        writer.stdin.close()
    after = snapshot(own.warehouse.parent)
    assert {name: after[name] for name in before} == before
