"""What is not there is said as it is: no machine, no history, no row of the kind."""

import pytest
from support.terminal import LATE, LUNCH, write_home
from support.warehouses import like

from agentlake.pipelines.cli.doctor import _verdict
from agentlake.pipelines.cli.reports import REPORTS
from agentlake.pipelines.health import Health, SourceHealth


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("aaaaaaba", LATE), (LUNCH[:-1] + "c", LUNCH), ("BBBBBBBC", LUNCH)],
)
def test_a_mistyped_session_has_the_nearest_suggested(typed, meant, fresh):
    write_home(fresh.home)
    assert fresh("load", "--session", typed) == 2
    assert f"Did you mean {meant}" in fresh.err
    assert not fresh.warehouse.exists()


def test_a_session_like_no_other_is_answered_in_a_line(fresh):
    write_home(fresh.home)
    assert fresh("load", "--session", "zzz") == 2
    assert "None of the 2 streams on disk has zzz in its name" in fresh.err
    assert fresh("load", "--path", fresh.config) == 2
    assert "lists the folders" in fresh.err


def test_a_session_on_an_empty_machine(fresh):
    assert fresh("load", "--session", "zzz") == 2
    assert "No agent's history is on this machine" in fresh.err


@pytest.mark.parametrize("is_loaded", [False, True])
def test_an_empty_machine_is_not_well_but_empty(is_loaded, fresh, empty_warehouse):
    if is_loaded:
        like(empty_warehouse, fresh.warehouse)
    assert fresh("doctor") == 0
    assert "All is well" not in fresh.out
    assert f"No agent has left any history in {fresh.home}" in fresh.out


def test_what_a_held_warehouse_knows_is_not_guessed():
    one = SourceHealth(source="codex", enabled=True, found=True, streams_on_disk=3)
    health = Health(
        config="", config_exists=False, home="/h", time_zone="UTC", warehouse="/w"
    )
    health.sources = [one]
    assert _verdict(health) == "All is well."
    health.busy = "held by pid 7"
    assert "unknown" in _verdict(health)


def test_a_report_without_rows_names_what_is_missing(terminal):
    assert terminal("report", "unit") == 0
    assert "2 loaded streams hold no usage in other units than tokens" in terminal.err
    assert "Load what" not in terminal.err


@pytest.mark.parametrize("name", REPORTS)
def test_no_report_of_an_empty_warehouse_claims_history(name, fresh, empty_warehouse):
    like(empty_warehouse, fresh.warehouse)
    assert fresh("report", name) == 0
    assert fresh.out == ""
    assert "Nothing yet: no history is loaded." in fresh.err
