"""A refresh in the middle of a load must not hide what the load writes after it."""

import pytest
from support.transcripts import Disk, event, rollout
from support.warehouses import refreshed

from agentlake.fixtures import FIXTURES_DIR
from agentlake.pipelines import timing
from agentlake.pipelines.settings.settings import load_settings
from agentlake.pipelines.sync import sync
from agentlake.pipelines.transform.refresh import refresh
from agentlake.pipelines.warehouse.connect import reading


def settings_for(warehouse):
    return load_settings(
        config=None,
        home=FIXTURES_DIR / "sources" / "claude_code" / "branch_chain" / "home",
        warehouse=warehouse,
        environ={"HOME": str(warehouse.parent), "TZ": "UTC"},
        known_sources=("claude_code", "codex"),
    )


def calls(warehouse):
    with reading(warehouse) as connection:
        return connection.execute(
            "select * exclude (stream_id, load_id) from core.usage order by all"
        ).fetchall()


@pytest.mark.slow
def test_models_refreshed_after_each_stream_end_as_if_refreshed_once(
    tmp_path, monkeypatch
):
    sync(settings_for(tmp_path / "once.duckdb"), environ={})
    monkeypatch.setattr(timing, "REFRESH_EVERY_S", -1.0)
    result = sync(settings_for(tmp_path / "often.duckdb"), environ={})
    assert calls(tmp_path / "often.duckdb") == calls(tmp_path / "once.duckdb")
    with reading(tmp_path / "often.duckdb") as connection:
        rows = connection.execute(
            "select count(*) > 1, sum(records), sum(bytes) from meta.loads"
        ).fetchall()
    assert rows == [
        (True, result.report.total("records"), result.report.total("bytes"))
    ]


@pytest.mark.slow
def test_a_load_that_dies_after_a_refresh_loses_nothing_to_the_next(
    tmp_path, monkeypatch
):
    lake = tmp_path / "lake.duckdb"
    monkeypatch.setattr(timing, "REFRESH_EVERY_S", -1.0)
    seen = []

    def die_late(report):
        seen.append(report.total("read"))
        if len(seen) == 3:
            raise KeyboardInterrupt

    try:
        sync(settings_for(lake), environ={}, on_progress=die_late)
    except KeyboardInterrupt:
        pass
    sync(settings_for(lake), environ={})
    sync(settings_for(tmp_path / "once.duckdb"), environ={})
    assert calls(lake) == calls(tmp_path / "once.duckdb")


def test_a_table_is_never_made_from_a_view_of_older_sql(lake):
    refreshed(lake.connection)
    lake.connection.execute(
        "update meta.model_state set fingerprint = 'older'"
        " where model in ('core.prices', 'core.usage')"
    )
    done = {one.model: one.how for one in refresh(lake.connection, ["core.usage"])}
    assert done["core.prices"] == "view"
    assert done["core.usage"] == "full"
    assert "core.usage_steps" not in done  # a table, and not asked for


def test_a_model_that_only_a_turn_names_is_asked_for_its_price(lake):
    disk = Disk(lake.home)
    disk.write(rollout(1), disk.thread)
    lake.load()
    assert lake.rows("select model from meta.price_offers") == [("gpt-5.1",)]
    disk.append(
        event(2, type="turn_context", payload={"model": "gpt-5.2"}), disk.thread
    )
    lake.load()
    disk.append(rollout(2, start=1), disk.thread)
    lake.load()
    assert lake.rows("select model from meta.price_offers order by all") == [
        ("gpt-5.1",),
        ("gpt-5.2",),
    ]
    assert lake.one("select count(cost_usd) from core.usage") == 2


def test_prices_are_asked_for_even_if_the_refresh_before_ended_without_them(lake):
    disk = Disk(lake.home)
    disk.write(rollout(1), disk.thread)
    lake.load()
    lake.connection.execute("delete from meta.price_offers")
    lake.connection.execute(
        "update meta.model_state set fingerprint = 'older'"
        " where model = 'core._usage_records'"
    )
    refresh(lake.connection, ["core._usage_records"])
    assert lake.rows("from meta.price_offers") == []
    refreshed(lake.connection)
    assert lake.one("select count(*) from meta.price_offers") == 1
