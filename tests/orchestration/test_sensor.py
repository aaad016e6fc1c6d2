"""The sensor: what it asks for, tick by tick, on an instance that forgets."""

import json
import os
import subprocess
import sys
import time

import dagster as dg
import pytest
from dagster import DagsterRunStatus
from dagster._core.definitions.data_version import (
    CachingStaleStatusResolver,
    StaleStatus,
)
from dagster._core.loader import LoadingContextForTest
from dagster._core.test_utils import create_run_for_test
from support.machine import Machine, failing, made

from agentlake.pipelines.orchestration import runs, sensor
from agentlake.pipelines.orchestration.build import build_defs
from agentlake.pipelines.orchestration.shown import asset_key
from agentlake.pipelines.transform.sql_models import models
from agentlake.pipelines.warehouse.files import vault_of

pytestmark = pytest.mark.slow

MODELS = {"/".join(asset_key(name).path): one for name, one in models().items()}
MARTS = {name for name in MODELS if name.startswith("marts/")}
CLAUDE, CODEX = "raw/claude_code", "raw/codex"


class Watched(Machine):
    """A machine with the sensor: `tick` is one of its ticks, `now` seconds later."""

    def __init__(self, folder, defs):
        super().__init__(folder, defs)
        self.defs = defs
        self.cursor = None
        self.sensor = defs.resolve_sensor_def("files")
        self.ahead = 0.0
        self.began = time.time()

    def tick(self, monkeypatch, after=0.0):
        self.ahead += after
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(self.home / "config"))
        monkeypatch.setenv("AGENTLAKE_HOME", str(self.home))
        monkeypatch.setenv("AGENTLAKE_WAREHOUSE", str(self.warehouse))
        # Not the time now: on a slow machine seconds pass between two ticks.
        now = self.began + self.ahead
        monkeypatch.setattr(sensor.time, "time", lambda: now)
        with dg.build_sensor_context(
            instance=self.instance, cursor=self.cursor, definitions=self.defs
        ) as context:
            data = self.sensor.evaluate_tick(context)
        monkeypatch.undo()
        self.cursor = data.cursor
        if not data.run_requests:
            return data.skip_message
        (request,) = data.run_requests
        return request

    def run(self, request):
        """Do what was asked for, as Dagster would."""
        job = self.job
        if request.asset_selection is not None:
            job = job.get_subset(asset_selection=set(request.asset_selection))
        result = self.execute(job, dict(request.run_config), request.tags)
        self.began = time.time()
        return result


def is_everything(request):
    return request.asset_selection is None and request.asset_check_keys is None


def keys(request):
    return {"/".join(key.path) for key in request.asset_selection}


@pytest.fixture(scope="module")
def defs():
    return build_defs()


@pytest.fixture(scope="module")
def machine(tmp_path_factory, defs):
    machine = Watched(tmp_path_factory.mktemp("sensor") / "it", defs)
    machine.has("claude_code/block_rows", "codex/fork_legacy")
    yield machine
    machine.instance.dispose()


@pytest.fixture
def loaded(machine, monkeypatch):
    """The machine with everything loaded, whatever the test before left behind."""
    sensor.scanners.clear()
    for _ in range(3):
        request = machine.tick(monkeypatch, 700)
        if isinstance(request, str):
            break
        assert machine.run(request).success
    assert request == "nothing changed"
    return machine


def test_the_first_tick_asks_for_everything(machine, monkeypatch):
    request = machine.tick(monkeypatch)
    assert is_everything(request)
    assert request.tags["agentlake/why"] == "first run: everything"
    assert request.run_config == {}
    assert machine.tick(monkeypatch, 5).startswith("next one in ")


def transcript(machine):
    return min(machine.home.glob(".claude/projects/*/*.jsonl"))


def append(machine):
    with transcript(machine).open("a") as file:
        file.write(f'{{"type":"user","uuid":"{time.time_ns()}"}}\n')


def test_everything_once_and_then_nothing(loaded, monkeypatch):
    assert loaded.tick(monkeypatch, 5) == "nothing changed"
    assert loaded.cursor == "{}"  # every tick's row keeps a copy
    known = dict(sensor.scanners)
    assert loaded.tick(monkeypatch, 5) == "nothing changed"
    assert sensor.scanners == known  # the disk is not listed again from nothing
    sensor.scanners.clear()  # another process
    assert loaded.tick(monkeypatch, 5) == "nothing changed"
    loaded.cursor = None
    assert loaded.tick(monkeypatch, 5) == "nothing changed"


def test_an_appended_line_is_a_run_of_that_stream_and_of_what_is_made_of_it(
    loaded, monkeypatch
):
    append(loaded)
    request = loaded.tick(monkeypatch, 5)
    assert CLAUDE in keys(request)
    assert CODEX not in keys(request)
    core = {name for name in MODELS if not name.startswith("marts/")}
    views = {name for name, one in MODELS.items() if one.is_view}
    assert keys(request) & core == core - views
    assert "staging/messages" in keys(request)
    assert not keys(request) & MARTS
    assert request.asset_check_keys is None  # all of what it makes
    assert request.run_key is None
    assert request.run_config["ops"]["raw__claude_code"]["config"] == {
        "streams": [str(transcript(loaded))]
    }
    result = loaded.run(request)
    assert result.success
    metadata = made(result)[CLAUDE]
    assert metadata["new_records"] == metadata["streams_read"] == 1
    assert metadata["new_bytes"] > 0 == metadata["new_rejects"]
    assert metadata["lag_seconds"] > 0
    records = made(result)["steps/_usage_records"]
    assert records["rows_added"] == 0
    assert isinstance(made(result)["core/usage"]["dagster/row_count"], int)
    assert stale(loaded) == set()
    graph = loaded.defs.resolve_asset_graph()
    checked = {one.asset_check_key for one in result.get_asset_check_evaluations()}
    assert checked == {
        key
        for key in graph.asset_check_keys
        if "/".join(key.asset_key.path) in made(result)
    }
    assert failing(result) == {}
    assert loaded.tick(monkeypatch, 5) == "nothing changed"


def stale(machine):
    """The assets that Dagster would call out of date."""
    graph = machine.defs.resolve_asset_graph()
    loading = LoadingContextForTest(machine.instance)
    resolver = CachingStaleStatusResolver(machine.instance, graph, loading)
    return {
        "/".join(key.path)
        for key in graph.get_all_asset_keys()
        if resolver.get_status(key) != StaleStatus.FRESH
    }


def test_what_was_not_asked_for_is_not_recorded_as_loaded(loaded, monkeypatch):
    append(loaded)
    request = loaded.tick(monkeypatch, 5)
    other = transcript(loaded).with_name("later.jsonl")
    other.write_text('{"type":"user","uuid":"later"}\n')
    assert loaded.run(request).success
    request = loaded.tick(monkeypatch, 5)
    assert request.run_config["ops"]["raw__claude_code"]["config"] == {
        "streams": [str(other)]
    }


def test_a_load_that_failed_is_asked_for_again_and_not_at_once(loaded, monkeypatch):
    append(loaded)
    request = loaded.tick(monkeypatch, 5)
    assert loaded.tick(monkeypatch, 5).startswith("next one in ")
    again = loaded.tick(monkeypatch, 6)
    assert again.run_config == request.run_config
    assert loaded.tick(monkeypatch, 11).startswith("next one in ")
    assert keys(loaded.tick(monkeypatch, 10)) == keys(request)
    assert len(loaded.cursor) < 200
    assert loaded.run(again).success
    assert loaded.tick(monkeypatch, 5) == "nothing changed"


def test_a_model_that_failed_after_a_good_load_is_made_without_loading(
    loaded, monkeypatch
):
    append(loaded)
    request = loaded.tick(monkeypatch, 5)
    only_raw = request._replace(asset_selection=[dg.AssetKey(["raw", "claude_code"])])
    assert loaded.run(only_raw).success
    request = loaded.tick(monkeypatch, 5)
    assert not {CLAUDE, CODEX} & keys(request)
    assert {"staging/messages", "core/usage"} <= keys(request)
    assert loaded.tick(monkeypatch, 5) == "nothing changed"  # a try at a time
    assert keys(loaded.tick(monkeypatch, 6)) == keys(request)
    assert loaded.run(request).success
    assert loaded.tick(monkeypatch, 600) == "nothing changed"


def test_a_warehouse_that_is_gone_is_made_again(loaded, monkeypatch):
    for path in (loaded.warehouse, vault_of(loaded.warehouse)):
        path.unlink(missing_ok=True)
    request = loaded.tick(monkeypatch, 5)
    assert is_everything(request)
    assert loaded.sync(CODEX).success  # and there that run was killed
    request = loaded.tick(monkeypatch, 700)
    assert CODEX not in keys(request)
    assert {CLAUDE, "steps/_usage_records"} | MARTS <= keys(request)
    assert loaded.run(request).success
    assert loaded.tick(monkeypatch, 5) == "nothing changed"


def test_a_backup_that_was_restored_is_noticed_and_loaded_again(loaded, monkeypatch):
    vault = vault_of(loaded.warehouse)
    backup = vault.read_bytes()
    append(loaded)
    records = "select count(*) from raw.claude_code"
    assert loaded.run(loaded.tick(monkeypatch, 60)).success
    ((after,),) = loaded.all(records)
    vault.write_bytes(backup)
    assert loaded.all(records) == [(after - 1,)]
    request = loaded.tick(monkeypatch, 60)
    assert is_everything(request)
    assert "restored" in request.tags["agentlake/why"]
    assert loaded.run(request).success
    assert loaded.all(records) == [(after,)]
    assert stale(loaded) == set()
    assert loaded.tick(monkeypatch, 60) == "nothing changed"


def test_what_a_machine_that_was_off_missed_is_made_good(loaded, monkeypatch):
    assert loaded.tick(monkeypatch, 20 * 3600) == "nothing changed"
    request = loaded.tick(monkeypatch, 7 * 3600)
    assert is_everything(request)
    assert request.tags["agentlake/why"].endswith("the daily run did not take place")
    assert request.tags["agentlake/checks"] == "all rows"
    # What fails is not asked for all the time.
    assert loaded.tick(monkeypatch, 5) == "nothing changed"
    loaded.ahead -= 27 * 3600 + 5  # the next tests live today


def test_a_source_that_is_switched_off_is_not_asked_for(loaded, monkeypatch):
    config = loaded.home / "config/agentlake/config.toml"
    config.parent.mkdir(parents=True)
    append(loaded)
    config.write_text("[sources.claude_code]\nenabled = false\n")
    assert loaded.tick(monkeypatch, 60) == "nothing changed"
    config.write_text("[sources.codex]\nenabledd = false\n")
    assert "unknown key sources.codex.enabledd" in loaded.tick(monkeypatch, 60)
    config.unlink()
    assert CLAUDE in keys(loaded.tick(monkeypatch, 60))


HOLDER = """
import pathlib, sys
from agentlake.pipelines.warehouse.one_ui import hold, lock_of
hold(lock_of(pathlib.Path(sys.argv[1])), "warehouse", "http://127.0.0.1:3000")
print(flush=True)
input()
"""


def test_what_an_agentlake_ui_looks_after_is_left_to_it(loaded, monkeypatch):
    append(loaded)
    command = [sys.executable, "-c", HOLDER, str(loaded.warehouse)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as holder:
        holder.stdout.readline()
        told = loaded.tick(monkeypatch, 5)
        assert f"(pid {holder.pid}, http://127.0.0.1:3000)" in told
        monkeypatch.setenv("AGENTLAKE_UI_PID", str(holder.pid))  # it is that one
        assert CLAUDE in keys(loaded.tick(monkeypatch, 5))
        holder.communicate(b"\n")
    assert CLAUDE in keys(loaded.tick(monkeypatch, 30))


@pytest.mark.parametrize(
    "status", [DagsterRunStatus.STARTING, DagsterRunStatus.STARTED]
)
def test_nothing_is_asked_for_while_a_run_is_on_its_way(loaded, monkeypatch, status):
    append(loaded)
    run = create_run_for_test(loaded.instance, "sync", status=status)
    assert loaded.tick(monkeypatch, 5) == f"run {run.run_id[:8]} is queued or running"
    loaded.instance.report_run_canceled(run)
    assert CLAUDE in keys(loaded.tick(monkeypatch, 5))


def test_a_run_whose_process_is_gone_is_failed_and_holds_up_nothing(
    loaded, monkeypatch
):
    append(loaded)
    run = create_run_for_test(loaded.instance, "sync", status=DagsterRunStatus.STARTED)
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    event = dg.DagsterEvent(
        event_type_value="PIPELINE_START", job_name="sync", pid=gone.pid, message=""
    )
    loaded.instance.report_dagster_event(event, run.run_id)
    assert CLAUDE in keys(loaded.tick(monkeypatch, 5))
    status = loaded.instance.get_run_by_id(run.run_id).status
    assert status == DagsterRunStatus.FAILURE


def test_a_run_of_a_ui_that_is_gone_never_begins_and_holds_up_nothing(
    loaded, monkeypatch
):
    append(loaded)
    monkeypatch.setenv("AGENTLAKE_UI_PID", "12")
    request = loaded.tick(monkeypatch, 5)
    run = create_run_for_test(
        loaded.instance, "sync", status=DagsterRunStatus.STARTING, tags=request.tags
    )
    monkeypatch.setenv("AGENTLAKE_UI_PID", "12")
    assert loaded.tick(monkeypatch, 20).endswith("is queued or running")
    monkeypatch.setenv("AGENTLAKE_UI_PID", "13")
    assert CLAUDE in keys(loaded.tick(monkeypatch, 20))
    status = loaded.instance.get_run_by_id(run.run_id).status
    assert status == DagsterRunStatus.FAILURE


def test_a_process_number_that_was_given_again_is_another_process():
    assert runs.lives(os.getpid(), time.time())
    if sys.platform == "linux":
        assert not runs.lives(os.getpid(), time.time() - 10 * 86_400)


def test_the_record_is_small(loaded):
    event = loaded.instance.get_latest_materialization_event(
        dg.AssetKey(["raw", "claude_code"])
    )
    value = event.asset_materialization.metadata["baseline"].value
    assert len(json.dumps(value)) < 2000
