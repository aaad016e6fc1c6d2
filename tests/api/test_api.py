"""`import agentlake`: frames with the same columns always, of what is published now."""

import ast
import subprocess
import sys
from datetime import date
from decimal import Decimal

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from support.terminal import LATE, LUNCH, SONNET, Terminal, write_home
from support.warehouses import like

import agentlake
from agentlake.lake import SCHEMAS, Lake
from agentlake.sql import SQL_DIR


@pytest.fixture
def lake(loaded_folder):
    """The calls of test_cli, days counted in Berlin."""
    return agentlake.open(loaded_folder / "lake.duckdb", time_zone="Europe/Berlin")


def test_importing_costs_nothing():
    code = "import agentlake, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert not {"polars", "duckdb", "pyarrow", "msgspec", "dagster"} & loaded


def test_every_mart_has_a_method_with_its_very_columns(lake, empty_warehouse):
    assert set(SCHEMAS) == {path.stem for path in (SQL_DIR / "marts").glob("[!_]*.sql")}
    for name, schema in SCHEMAS.items():
        frame = getattr(lake, name)()
        assert frame.schema == schema
        assert_frame_equal(frame, lake.sql(f"from marts.{name}"))
        assert getattr(agentlake.open(empty_warehouse), name)().schema == schema
        told = getattr(Lake, name).__doc__
        assert [column for column in schema if column not in told] == []


def test_methods_are_typed():
    tree = ast.parse((SQL_DIR.parent / "agentlake/lake.py").read_text())
    found = {
        node.name: ast.unparse(node.returns)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.returns
    }
    assert {found[name] for name in SCHEMAS} == {"pl.DataFrame"}


def test_days_are_those_of_the_zone_and_moments_in_utc(lake):
    daily = lake.daily_usage()
    assert daily["usage_date"].to_list() == [
        date(2026, 11, day) for day in (30, 29, 28)
    ]
    assert daily["cost_usd"].to_list() == [None, Decimal("0.009"), Decimal("0.0045")]
    in_tokyo = agentlake.open(lake.path, time_zone="Asia/Tokyo").daily_usage()
    assert in_tokyo["usage_date"].to_list() == [date(2026, 11, day) for day in (30, 29)]
    day, moment = lake.sql(
        "select called_at::date, called_at from core.usage order by all limit 1"
    ).row(0)
    assert day == date(2026, 11, 28)
    assert moment.isoformat() == "2026-11-28T22:30:00+00:00"


def test_a_table_is_lazy_and_reads_what_is_asked(lake):
    usage = lake.table("core.usage")
    assert isinstance(usage, pl.LazyFrame)
    found = usage.filter(pl.col("model") == SONNET).select("session_id").collect()
    assert found["session_id"].to_list() == [LATE, LATE]
    assert usage.select(pl.len()).collect().item() == 3
    assert usage.head(1).collect().height == 1
    assert_frame_equal(
        usage.collect(), lake.sql("from core.usage"), check_row_order=False
    )
    assert usage.collect_schema() == lake.sql("from core.usage").schema
    assert usage.collect_schema()["called_at"] == pl.Datetime("us", "UTC")


def test_a_lazy_table_is_read_when_it_is_collected(tmp_path, empty_warehouse):
    terminal = Terminal(tmp_path)
    like(empty_warehouse, terminal.warehouse)
    lake = agentlake.open(terminal.warehouse)
    lazy = lake.table("core.usage")
    with duckdb.connect(str(terminal.warehouse), read_only=True) as held:
        assert lake.daily_usage().is_empty()
        write_home(terminal.home)
        assert terminal("load", "--quiet") == 0
        assert lake.daily_usage()["calls"].sum() == lazy.collect().height == 3
        assert held.execute("select count(*) from core.usage").fetchall() == [(0,)]


def test_macros_are_there(lake):
    assert lake.sql("from sessions_of('shop')")["session_id"].to_list() == [LUNCH, LATE]


@pytest.mark.parametrize(
    ("folder", "calls"), [("shop", 3), ("/home/ada", 3), ("/home/ada/sho", 0)]
)
def test_a_project_s_sessions_are_counted_alone(folder, calls, lake):
    shop = lake.of_project(folder)
    assert (shop.daily_usage()["calls"].sum() or 0) == calls
    assert (shop.session_summary()["calls"].sum() or 0) == calls
    assert lake.daily_usage()["calls"].sum() == 3
    assert ("only" in repr(shop), "only" in repr(lake)) == (True, False)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("selec 1", "syntax error"),
        ("from daily_usage", 'Did you mean "marts.daily_usage"?'),
        ("delete from core.usage", "read-only"),
        ("create table core.x as select 1", "read-only"),
    ],
)
def test_a_wrong_query_is_told_in_duckdb_s_words(query, said, lake):
    with pytest.raises(agentlake.UserError, match=said.replace("?", r"\?")):
        lake.sql(query)


def test_what_is_not_there_is_told(lake, tmp_path):
    with pytest.raises(agentlake.UserError, match="no warehouse yet"):
        agentlake.open(tmp_path / "none.duckdb")
    with pytest.raises(agentlake.UserError, match="Did you mean Europe/Berlin"):
        agentlake.open(lake.path, time_zone="Europe/Brelin")
    with pytest.raises(agentlake.UserError, match="Did you mean"):
        lake.table("core.usages")


def test_the_settings_say_which_warehouse(lake, monkeypatch):
    monkeypatch.setenv("AGENTLAKE_WAREHOUSE", str(lake.path))
    assert agentlake.open().path == lake.path


def test_a_warehouse_of_another_version_is_told(tmp_path, empty_warehouse):
    like(empty_warehouse, tmp_path / "lake.duckdb")
    with duckdb.connect(str(tmp_path / "lake.duckdb")) as connection:
        connection.execute(
            "create or replace view marts.tool_usage as select 'x' as source"
        )
    with pytest.raises(agentlake.UserError, match="another version of agentlake"):
        agentlake.open(tmp_path / "lake.duckdb").tool_usage()
