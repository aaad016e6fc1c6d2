"""Dagster: the graph as it was reviewed, runs on an ephemeral instance, checks."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import dagster as dg
import pytest
from support.machine import Machine, failing, made
from support.warehouses import like

from agentlake.pipelines import timing
from agentlake.pipelines.orchestration.build import build_defs
from agentlake.pipelines.orchestration.shown import asset_key
from agentlake.pipelines.orchestration.tags import CHECKS, TOUCHED
from agentlake.pipelines.transform.sql_models import models
from agentlake.pipelines.warehouse.connect import reading
from agentlake.pipelines.warehouse.files import vault_of

MODELS = {"/".join(asset_key(name).path) for name in models()}
THROUGH = "checked_through_load"
GRAPH = Path(__file__).with_name("graph.txt")


@pytest.fixture(scope="module")
def defs():
    return build_defs()


@pytest.fixture(scope="module")
def machine(tmp_path_factory, defs):
    """A machine with both agents, and everything made once."""
    machine = Machine(tmp_path_factory.mktemp("machine") / "it", defs)
    machine.has("claude_code/block_rows", "codex/fork_legacy")
    machine.first = machine.sync()
    yield machine
    machine.instance.dispose()


@pytest.fixture
def another(tmp_path, defs, machine):
    """A machine with the same warehouse, and a Dagster that knows nothing of it."""
    another = Machine(tmp_path / "another", defs)
    like(machine.warehouse, another.warehouse)
    yield another
    another.instance.dispose()


def test_definitions_load_and_hang_together(defs):
    dg.Definitions.validate_loadable(defs)
    keys = {"/".join(key.path) for key in defs.resolve_all_asset_keys()}
    assert {"raw/claude_code", "raw/codex", "staging/usage"} <= keys
    assert keys >= MODELS


def test_the_graph_is_the_one_that_was_reviewed():
    lines = [f"{name} <- {', '.join(one.reads)}" for name, one in models().items()]
    graph = "\n".join(sorted(lines)) + "\n"
    if os.environ.get("AGENTLAKE_ACCEPT"):
        GRAPH.write_text(graph)
    assert graph == GRAPH.read_text(), "make accept, and read the diff"


def test_every_asset_says_what_it_is_and_has_columns(defs):
    for spec in defs.resolve_all_asset_specs():
        assert spec.description, spec.key
        assert spec.metadata["dagster/column_schema"].columns, spec.key
        assert spec.group_name in {"raw", "staging", "core", "steps", "marts"}


@pytest.mark.slow
def test_everything_is_made_and_every_check_passes(machine):
    result = machine.first
    assert result.success
    assert failing(result) == {}
    metadata = made(result)
    with reading(machine.warehouse) as connection:
        for name, shown in metadata.items():
            if name.startswith("steps/"):
                continue
            count = f"select count(*) from {name.replace('/', '.')}"
            ((rows,),) = connection.execute(count).fetchall()
            assert shown["dagster/row_count"] == rows, name
    for name in ("raw/claude_code", "raw/codex"):
        assert metadata[name]["new_records"] == metadata[name]["dagster/row_count"] > 0
    assert metadata["core/usage"]["dagster/row_count"] > 0
    assert metadata["core/usage"]["how"] == "full"
    assert metadata["marts/unpriced_models"]["dagster/row_count"] == 0


@pytest.mark.slow
def test_the_second_run_only_looks(machine):
    tables = ("meta.loads", "meta.model_state", "meta.streams", "meta.settings")
    before = [machine.all(f"from {table} order by all") for table in tables]
    result = machine.sync()
    assert result.success
    assert failing(result) == {}
    assert [machine.all(f"from {table} order by all") for table in tables] == before
    first, second = made(machine.first), made(result)
    assert {second[name]["how"] for name in MODELS} == {"current"}
    for name in ("raw/claude_code", "raw/codex"):
        assert second[name]["streams_read"] == second[name]["new_records"] == 0
        assert second[name]["signature"] == first[name]["signature"]


@pytest.mark.slow
def test_an_empty_disk_is_an_empty_warehouse_and_all_is_well(another):
    another.warehouse.unlink()
    vault_of(another.warehouse).unlink()
    result = another.sync()
    assert result.success
    assert failing(result) == {}
    assert made(result)["raw/codex"]["found"].startswith("not found (looked in ")
    assert made(result)["core/usage"]["dagster/row_count"] == 0


@pytest.mark.slow
def test_a_broken_row_is_shown_and_stops_nothing(another):
    another.all("insert into core.usage by name from core.usage limit 1")
    another.all("update core.messages set role = 'ghost'")
    result = another.sync("core/usage", "core/messages", "core/usage_copies")
    assert result.success
    found = failing(result)
    assert found["core/usage", "grain"].severity == dg.AssetCheckSeverity.ERROR
    assert found["core/usage", "grain"].metadata["bad_rows"].value == 2
    assert ("core/usage_copies", "usage_walks_back") in found
    assert found["core/messages", "values_role"].severity == dg.AssetCheckSeverity.WARN
    shown = found["core/messages", "values_role"].metadata["examples"].value.records
    assert {row.data["role"] for row in shown} == {"ghost"}
    assert not any("text" in row.data for row in shown)


@pytest.mark.slow
def test_a_run_of_the_sensor_checks_what_was_touched_until_it_is_good(another):
    def touched():
        result = another.sync("core/usage", tags={CHECKS: TOUCHED})
        assert result.success
        (grain,) = [
            one
            for one in result.get_asset_check_evaluations()
            if one.check_name == "grain"
        ]
        return grain.metadata["rows_checked"].value, grain.passed

    ((rows,),) = another.all("select count(*) from core.usage")
    assert touched() == (rows, True)  # this Dagster knows nothing of them
    assert touched() == (0, True)
    another.all("insert into core.usage by name from core.usage limit 1")
    assert touched() == (0, True)  # an old row, which the daily run finds
    another.all(
        "insert into meta.loads by name select * replace (9 as load_id)"
        " from meta.loads limit 1"
    )
    another.all(
        "update core.usage set load_id = 9 where rowid ="
        " (select max(rowid) from core.usage)"
    )
    for _ in range(2):
        assert touched() == (2, False)  # it, and the row that it doubles
    another.all("delete from core.usage where load_id = 9")
    assert touched() == (0, True)


@pytest.mark.slow
def test_a_model_that_fails_stops_only_what_reads_it(another):
    another.all("alter table core.usage_steps drop column session_id")
    result = another.sync()
    assert not result.success
    told = result.failure_data_for_node("core").user_failure_data.description
    assert "core.usage_steps: Binder Error: " in told
    assert "core.usage: not made without core.usage_steps" in told
    done = made(result)
    assert {"core/prices", "core/messages", "core/tool_calls"} <= done.keys()
    assert not {"core/usage", "core/usage_steps"} & done.keys()


@pytest.mark.slow
def test_what_is_wrong_at_the_door_is_shown_until_it_is_gone(another):
    assert made(another.sync("staging/blocks"))["staging/blocks"][THROUGH] == "2"
    another.all("update staging.blocks set generation = -1, load_id = 9")
    another.all("update meta.loads set load_id = 9 where load_id = 2")
    for _ in range(2):
        result = another.sync("staging/blocks")
        door = failing(result)["staging/blocks", "frame"]
        (failure, *_) = door.metadata["failures"].value.records
        assert failure.data["column"] == "generation"
        assert failure.data["check"] == "greater_than_or_equal_to(0)"
        assert made(result)["staging/blocks"][THROUGH] == "2"
    another.all("update staging.blocks set generation = 0")
    result = another.sync("staging/blocks")
    assert failing(result) == {}
    assert made(result)["staging/blocks"][THROUGH] == "9"


@pytest.mark.slow
def test_a_check_can_be_asked_for_alone(another):
    result = another.sync(checks=[("core/usage", "grain")])
    (evaluation,) = result.get_asset_check_evaluations()
    assert evaluation.passed
    assert evaluation.metadata["rows_checked"].value > 0
    assert made(result) == {}


@pytest.mark.slow
def test_new_prices_cost_history_again(another):
    config = another.home / "config/agentlake/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[prices."gpt-5"]\ninput = 1000\noutput = 1000\n')
    metadata = made(another.sync("core/prices", "core/usage"))
    assert metadata["core/usage"]["how"] == "repriced"
    metadata = made(another.sync("core/prices", "core/usage"))
    assert metadata["core/usage"]["how"] == "current"


HOLDER = """
import pathlib, sys
from agentlake.pipelines.warehouse.connect import writing
with writing(pathlib.Path(sys.argv[1])):
    print(flush=True)
    input()
"""


@pytest.mark.slow
def test_who_holds_the_warehouse_is_named(another, monkeypatch):
    monkeypatch.setattr(timing, "RUN_WAIT_S", 0.0)
    command = [sys.executable, "-c", HOLDER, str(another.warehouse)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as holder:
        holder.stdout.readline()
        result = another.sync("raw/codex")
        holder.communicate(b"\n")
    assert not result.success
    failure = result.failure_data_for_node("raw__codex")
    assert f"pid {holder.pid}" in failure.user_failure_data.description


@pytest.mark.slow
def test_a_run_waits_for_who_holds_the_warehouse(another, monkeypatch):
    monkeypatch.setattr(timing, "WAIT_SAID_AFTER_S", 0.1)
    command = [sys.executable, "-c", HOLDER, str(another.warehouse)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as holder:
        holder.stdout.readline()
        ends = threading.Timer(1.5, holder.communicate, [b"\n"])
        ends.start()
        result = another.sync("raw/codex")
        ends.join()
    assert result.success
