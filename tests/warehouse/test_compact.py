"""Compacting: a vault that is mostly free blocks becomes small, and loses nothing."""

import os
import shutil
import stat
import subprocess
import sys
import time

import duckdb
import pytest

from agentlake.fixtures import FIXTURES_DIR
from agentlake.pipelines.warehouse import compact as compacting
from agentlake.pipelines.warehouse.compact import compact
from agentlake.pipelines.warehouse.connect import BusyError, reading, writing
from agentlake.pipelines.warehouse.copy_closed import is_done, log_of
from agentlake.pipelines.warehouse.files import vault_of
from agentlake.pipelines.warehouse.publish import publish

pytestmark = pytest.mark.slow

CATALOG = (
    "select table_name, comment from duckdb_tables() order by all",
    "select table_name, column_name, data_type, is_nullable, comment"
    " from duckdb_columns() where not internal order by all",
    "select view_name, comment from duckdb_views() where not internal order by all",
    "select function_name, parameters, macro_definition, comment"
    " from duckdb_functions() where not internal order by all",
    "select tags from duckdb_databases() where database_name = 'lake'",
)


@pytest.fixture
def loaded(lake):
    """The path of a warehouse with a few sessions in it, closed."""
    for case in ("claude_code/block_rows", "codex/fork_legacy"):
        home = FIXTURES_DIR / "sources" / case / "home"
        shutil.copytree(home, lake.home, dirs_exist_ok=True)
    assert lake.load().total("records")
    lake.close()
    return lake.path


@pytest.fixture
def easily(monkeypatch):
    monkeypatch.setattr(compacting, "_LEAST_BYTES", 0)


def waste(path):
    """Free blocks, as a table that was there for a while leaves them."""
    with writing(path) as connection:
        connection.execute("create table gone as select random() from range(4_000_000)")
        connection.execute("checkpoint")
        connection.execute("drop table gone")


def content(path):
    with writing(path) as connection:
        found = [connection.execute(query).fetchall() for query in CATALOG]
        for (table,) in connection.execute(
            "select format('{}.{}', schema_name, table_name) from duckdb_tables()"
            " union select format('{}.{}', schema_name, view_name) from duckdb_views()"
            " where not internal order by all"
        ).fetchall():
            rows = connection.execute(f"from {table}").fetchall()
            found.append((table, sorted(map(repr, rows))))
        return found


def test_it_is_small_afterwards_and_everything_is_there(loaded, easily):
    waste(loaded)
    vault = vault_of(loaded)
    before = content(loaded)
    done = compact(loaded)
    assert done.free > done.before / 2
    assert done.after == vault.stat().st_size < done.before / 2
    assert stat.S_IMODE(vault.stat().st_mode) == 0o600
    assert content(loaded) == before
    assert not log_of(vault).exists()
    assert not list(vault.parent.glob("*compacted*"))
    with writing(loaded) as connection:
        kinds = (
            "select distinct compression from pragma_storage_info('raw.claude_code')"
        )
        found = connection.execute(
            f"{kinds} where column_name = 'payload' and segment_type = 'VARCHAR'"
        ).fetchall()
    assert found == [("ZSTD",)]
    assert compact(loaded).after == done.after
    publish(loaded)
    assert loaded.stat().st_size == done.after


def test_it_is_left_alone_where_there_is_little_to_gain(loaded):
    waste(loaded)
    with writing(loaded):
        pass
    vault = vault_of(loaded)
    publish(loaded)
    before = vault.stat()
    done = compact(loaded)
    assert done.free > done.before / 2  # much of a small file
    assert done.before == done.after
    after = vault.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert is_done(vault, loaded)


def test_who_holds_it_is_named_and_nothing_is_done(tmp_path, easily):
    path = tmp_path / "lake.duckdb"
    waste(path)
    script = (
        "import sys, time, duckdb; c = duckdb.connect(sys.argv[1]);"
        " print('open', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", script, str(vault_of(path))]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        with pytest.raises(BusyError, match=f"pid {holder.pid}"):
            compact(path, wait_s=0.1)
        holder.kill()


def test_a_writer_that_comes_meanwhile_waits_and_its_rows_stay(tmp_path, easily):
    path = tmp_path / "lake.duckdb"
    script = """
import sys
from pathlib import Path
from agentlake.pipelines.warehouse.connect import writing
path = Path(sys.argv[1])
with writing(path) as connection:
    connection.execute("create table n (n int)")
print("made", flush=True)
for n in range(40):
    with writing(path) as connection:
        connection.execute("insert into n values ($1)", [n])
"""
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        writer.stdout.readline()
        times = 0
        while writer.poll() is None:
            waste(path)
            compact(path)
            times += 1
    assert writer.returncode == 0
    assert times > 1
    with writing(path) as connection:
        assert connection.execute(
            "select count(*), count(distinct n) from n"
        ).fetchall() == [(40, 40)]


@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.1, 0.2, 0.3, 0.4])
def test_a_kill_leaves_it_whole(tmp_path, easily, after_s):
    path = tmp_path / "lake.duckdb"
    with writing(path) as connection:
        connection.execute("create table kept as select range as n from range(500_000)")
    waste(path)
    script = (
        "import sys; from pathlib import Path;"
        "from agentlake.pipelines.warehouse import compact as c; c._LEAST_BYTES = 0;"
        " print('up', flush=True); c.compact(Path(sys.argv[1]))"
    )
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        time.sleep(after_s)
        process.kill()
    with writing(path) as connection:
        rows = connection.execute("select count(*), sum(n) from kept").fetchall()
    assert rows == [(500_000, 124_999_750_000)]
    done = compact(path)
    assert done.after < 64 << 20
    assert os.listdir(tmp_path) == [vault_of(path).name]


def test_a_disk_that_is_full_leaves_it_as_it_was(tmp_path, easily, monkeypatch):
    path = tmp_path / "lake.duckdb"
    waste(path)
    new = tmp_path / f".{vault_of(path).name}.compacted"
    before = vault_of(path).read_bytes()
    new.mkdir()  # it cannot be made there
    with pytest.raises((duckdb.Error, OSError)):
        compact(path)
    assert vault_of(path).read_bytes() == before


def test_readers_see_the_compacted_one_once_it_is_published(tmp_path, easily):
    path = tmp_path / "lake.duckdb"
    with writing(path) as connection:
        connection.execute("create table kept as select 1 as n")
    waste(path)
    publish(path)
    with reading(path) as reader:
        compact(path)
        publish(path)
        assert reader.execute("from kept").fetchall() == [(1,)]
    with reading(path) as reader:
        assert reader.execute("from kept").fetchall() == [(1,)]
    assert path.stat().st_size == vault_of(path).stat().st_size
