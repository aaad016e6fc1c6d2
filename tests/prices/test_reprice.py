"""A new price list costs all history again, from the costed rows alone, and says so."""

import shutil
from datetime import date
from decimal import Decimal

import pytest
from support.warehouses import ScratchLake

from agentlake.fixtures import FIXTURES_DIR
from agentlake.pipelines.prices.update import update_quotes
from agentlake.pipelines.transform.refresh import refresh

HOME = FIXTURES_DIR / "sources" / "claude_code" / "prices" / "home"
MODEL = "claude-opus-4-8"
DEARER = {MODEL: {"input": 50, "output": 100}}


@pytest.fixture
def lake(tmp_path):
    shutil.copytree(HOME, tmp_path / "home")
    lake = ScratchLake(tmp_path / "lake.duckdb", tmp_path / "home")
    yield lake
    lake.close()


def costed(lake, overrides):
    done = refresh(
        lake.connection,
        prepare_prices=lambda it, used: update_quotes(it, used, overrides),
    )
    return {one.model: one.how for one in done}


def usage(lake):
    return lake.rows("select * from core.usage order by all")


def test_a_new_price_list_reads_nothing_but_the_calls_it_costs_again(lake):
    lake.load(fresh=False)
    costed(lake, {})
    before = usage(lake)
    lake.connection.execute("alter table staging.usage rename to not_to_be_read")
    empty = "create table staging.usage as from staging.not_to_be_read limit 0"
    lake.connection.execute(empty)
    assert costed(lake, DEARER)["core.usage"] == "repriced"
    repriced = usage(lake)
    lake.connection.execute("drop table staging.usage")
    lake.connection.execute("alter table staging.not_to_be_read rename to usage")
    assert repriced != before
    rebuilt_with(lake, DEARER)
    assert usage(lake) == repriced
    assert costed(lake, {})["core.usage"] == "repriced"
    assert usage(lake) == before


def rebuilt_with(lake, overrides):
    lake.connection.execute(
        "delete from meta.model_state where model <> 'meta.price_quotes'"
    )
    costed(lake, overrides)


def test_what_a_price_list_changed_is_written_down(lake):
    lake.load(fresh=False)
    costed(lake, {})
    assert lake.rows("select count(*) from meta.price_changes") == [(0,)]
    was = lake.rows(f"select sum(cost_usd) from core.usage where model = '{MODEL}'")
    costed(lake, DEARER)
    ((now,),) = lake.rows(
        f"select sum(cost_usd) from core.usage where model = '{MODEL}'"
    )
    (change,) = lake.rows("select * exclude (price_list) from meta.price_changes")
    # Five calls of the model; of the priority one the list knew no price.
    assert change[:4] == (date(2026, 11, 1), "claude_code", MODEL, 5)
    assert change[4:6] == (was[0][0], now)
    assert change[6:] == (1, 0)
    assert now == 5 * Decimal("2.77")
    assert lake.rows("select price_list from meta.price_lists") == [(1,), (2,)]
    costed(lake, DEARER)
    assert lake.rows("select count(*) from meta.price_lists") == [(2,)]


def test_calls_that_came_with_the_new_prices_are_no_change(lake):
    (transcript,) = lake.home.rglob("*.jsonl")
    text = transcript.read_text()
    lines = text.splitlines(keepends=True)
    transcript.write_text("".join(lines[:3]))
    lake.load(fresh=False)
    costed(lake, {})
    transcript.write_text(text)
    lake.load(fresh=False)
    costed(lake, DEARER)
    assert lake.rows("select sum(calls) from meta.price_changes") == [(2,)]
    together = usage(lake)
    rebuilt_with(lake, DEARER)
    assert usage(lake) == together
