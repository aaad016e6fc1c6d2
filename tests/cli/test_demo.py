"""What `agentlake demo` shows is what its made-up home holds."""

import json

import pytest
from support.cases import plans
from support.warehouses import refreshed

from agentlake.fixtures import FIXTURES_DIR
from agentlake.pipelines.ingest.loader import load

DEMO = FIXTURES_DIR / "demo"


@pytest.fixture
def demo(new_lake):
    connection = new_lake().connection
    load(connection, plans(DEMO / "home"), refresh=refreshed)
    return connection


def test_the_demo_has_the_rows_that_its_maker_counted(demo):
    for check in json.loads((DEMO / "expected.json").read_text())["checks"]:
        found = [list(row) for row in demo.execute(check["sql"]).fetchall()]
        assert found == check["rows"], f"{check['name']}: {check['why']}"


def test_the_demo_looks_like_two_weeks_of_work(demo):
    costs = demo.execute("""
        select sum(cost_usd), count(*) filter (where cost_usd is null)
        from core.usage group by timezone('UTC', called_at)::date
    """).fetchall()
    assert len(costs) == 13
    assert all(0.3 < cost < 12 and not unpriced for cost, unpriced in costs)
    longest = demo.execute("select max(duration_ms) from core.tool_calls").fetchall()
    assert longest[0][0] < 5 * 60 * 1000
