"""DuckDB's memory is limited; what does not fit lies beside the warehouse, unseen."""

import os
import subprocess
import sys

from support.warehouses import like

from agentlake.pipelines.warehouse.connect import reading, writing
from agentlake.pipelines.warehouse.memory import most_bytes, spill_of

SORTS = """
    create temp table sorted as
    select range as a, repeat('x', 200) as b from range(3000000) order by hash(a)
"""


def test_what_does_not_fit_is_put_beside_the_warehouse_and_goes(tmp_path):
    path = tmp_path / "lake.duckdb"
    with writing(path) as connection:
        connection.execute("set memory_limit = '150MB'")
        connection.execute(SORTS)
        folder = spill_of(path)
        assert folder.stat().st_mode & 0o777 == 0o700
        assert list(folder.iterdir())
    assert {it.name for it in tmp_path.iterdir()} == {"lake.vault.duckdb"}


def test_a_reader_is_limited_too_and_leaves_nothing(tmp_path, empty_warehouse):
    path = tmp_path / "lake.duckdb"
    like(empty_warehouse, path)
    before = {it.name for it in tmp_path.iterdir()}
    with reading(path) as connection:
        ((limit, most),) = connection.execute(
            "select current_setting('memory_limit'), format_bytes($most)",
            {"most": most_bytes()},
        ).fetchall()
    assert limit == most
    assert {it.name for it in tmp_path.iterdir()} == before


def test_what_a_killed_process_left_is_swept_by_the_next_load(tmp_path):
    path = tmp_path / "lake.duckdb"
    script = "import os; print(os.getpid())"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    left = tmp_path / f".lake.duckdb.{int(done.stdout)}.spill"
    alive = tmp_path / f".lake.duckdb.{os.getppid()}.spill"
    for folder in (left, alive):
        folder.mkdir()
        (folder / "duckdb_temp_storage-0.tmp").write_text("secret")
    with writing(path):
        pass
    assert not left.exists()
    assert alive.exists()


def test_a_folder_that_cannot_be_made_is_done_without(tmp_path, empty_warehouse):
    path = tmp_path / "lake.duckdb"
    like(empty_warehouse, path)
    spill_of(path).write_text("somebody's")
    with reading(path) as connection:
        assert connection.execute("select count(*) from core.usage").fetchone() == (0,)
    assert spill_of(path).read_text() == "somebody's"


def test_a_folder_with_a_quote_in_its_name_is_like_any_other(tmp_path):
    path = tmp_path / "o'brien" / "lake.duckdb"
    path.parent.mkdir()
    with writing(path) as connection:
        ((place,),) = connection.execute(
            "select current_setting('temp_directory')"
        ).fetchall()
    assert place == str(spill_of(path))
