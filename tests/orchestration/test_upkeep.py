"""What Dagster does beside loading: health, old runs, replay."""

import os
import sqlite3
import time

import dagster as dg
import pytest
from support.machine import QUIET, Machine, failing

from agentlake.pipelines.orchestration import upkeep
from agentlake.pipelines.orchestration.build import build_defs
from agentlake.pipelines.orchestration.source_checks import HEALTH
from agentlake.pipelines.warehouse import compact

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def defs():
    return build_defs()


@pytest.fixture
def machine(tmp_path, defs):
    machine = Machine(tmp_path / "it", defs)
    machine.has("claude_code/block_rows")
    yield machine
    machine.instance.dispose()


def test_everything_that_is_scheduled_is_a_job(defs):
    assert {one.name: one.job_name for one in defs.schedules} == {
        "health": "health",
        "daily": "sync",
        "housekeeping": "housekeeping",
    }
    for name in ("sync", "health", "housekeeping", "replay"):
        assert defs.resolve_job_def(name).description


def test_what_was_left_behind_is_seen_and_how_urgent_it_is(machine, defs):
    job = defs.resolve_job_def("health")
    assert machine.sync("raw/claude_code").success
    assert failing(machine.execute(job)) == {}
    file = machine.home / ".claude/projects/p/forgotten.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("{}\n")
    assert failing(machine.execute(job)) == {}  # written just now
    for days, severity in ((3, "WARN"), (29, "ERROR")):
        then = time.time() - days * 86_400
        os.utime(file, (then, then))
        ((where, check),) = failing(machine.execute(job)).items()
        assert where == ("raw/claude_code", HEALTH)
        assert check.severity.value == severity
        assert check.metadata["streams_not_loaded"].value == 1
        assert check.metadata["oldest_days"].value == days
        assert check.metadata["oldest"].value == str(file)


def test_old_runs_go_and_what_the_assets_know_stays(tmp_path, defs, monkeypatch):
    monkeypatch.setattr(upkeep, "KEEP_RUNS", 2)
    machine = Machine(tmp_path / "it", defs)
    machine.instance.dispose()
    state = tmp_path / "dagster"
    state.mkdir()
    key = dg.AssetKey(["raw", "claude_code"])
    with dg.DagsterInstance.local_temp(str(state)) as instance:
        machine.instance = instance
        runs = [machine.sync("raw/claude_code").run_id]
        runs += [
            machine.execute(defs.resolve_job_def("health")).run_id for _ in range(3)
        ]
        before = instance.get_latest_materialization_event(key)
        job = defs.resolve_job_def("housekeeping")
        assert job.execute_in_process(instance=instance, run_config=QUIET).success
        left = {run.run_id for run in instance.get_runs()}
        assert set(runs[2:]) <= left
        assert not set(runs[:2]) & left
        files = {path.name for path in state.glob("history/runs/*.db")}
        assert f"{runs[0]}.db" not in files
        assert f"{runs[3]}.db" in files
        record = instance.get_asset_records([key])[0].asset_entry.last_materialization
        assert record.asset_materialization == before.asset_materialization
        with sqlite3.connect(state / "history/runs.db") as connection:
            assert connection.execute("pragma freelist_count").fetchall() == [(0,)]


def test_failed_runs_are_kept_for_two_weeks(monkeypatch):
    monkeypatch.setattr(upkeep, "KEEP_RUNS", 0)

    @dg.job
    def fails():
        @dg.op
        def no():
            raise ValueError

        no()

    with dg.DagsterInstance.ephemeral() as instance:
        run = fails.execute_in_process(instance=instance, raise_on_error=False)
        now = time.time()
        assert not list(upkeep.old_runs(instance, now + 13 * 86_400))
        assert list(upkeep.old_runs(instance, now + 15 * 86_400)) == [run.run_id]


def test_housekeeping_gives_back_space(machine, defs, monkeypatch):
    monkeypatch.setattr(compact, "_LEAST_BYTES", 0)
    job = defs.resolve_job_def("housekeeping")
    assert machine.execute(job).success
    assert not list(machine.warehouse.parent.glob("*.duckdb"))  # nothing to keep
    assert machine.sync("raw/claude_code").success
    machine.all("create table gone as select random() from range(4_000_000)")
    machine.all("create table kept as select random() from range(100_000)")
    machine.all("drop table gone")
    result = machine.execute(job)
    assert result.success
    (output,) = [
        event.step_output_data.metadata
        for event in result.all_events
        if event.event_type_value == "STEP_OUTPUT"
        and event.step_key == "tidy_warehouse"
    ]
    assert output["bytes"].value < output["bytes_before"].value / 2
    assert machine.warehouse.stat().st_size == output["bytes"].value
    assert machine.all("select count(*) from staging.usage") != [(0,)]


def test_replay_from_the_ui(machine, defs):
    assert machine.sync("raw/claude_code").success
    job = defs.resolve_job_def("replay")
    config = {"ops": {"parse_again": {"config": {"source": "claude_code"}}}}
    facts = "select count(*) from staging.messages"
    before = machine.all(facts)
    machine.all("delete from staging.messages")
    assert machine.execute(job, config).success
    assert machine.all(facts) == before != [(0,)]
    config["ops"]["parse_again"]["config"]["source"] = "codx"
    result = machine.execute(job, config)
    failure = result.failure_data_for_node("parse_again")
    assert "Did you mean codex?" in failure.user_failure_data.description
