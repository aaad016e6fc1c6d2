"""What the machine refuses is told in a sentence, and never by a traceback."""

import errno
from pathlib import Path

import duckdb
import pytest

from agentlake.pipelines.cli.trouble import explained

NESTED = "[" * 100_000 + "]" * 100_000
OLD = """
    create schema meta;
    create table meta.streams (source varchar);
    create schema marts;
    create table marts.daily_usage (day date);
    create table marts.session_summary (day date);
"""
ASKED_OF_AN_OLD_ONE = [
    ["report", "daily"],
    ["report", "session"],
    ["rejects"],
    ["doctor"],
    ["verify"],
]


@pytest.mark.parametrize("command", ASKED_OF_AN_OLD_ONE)
def test_a_warehouse_of_an_older_version_is_told_to_load(command, fresh):
    with duckdb.connect(str(fresh.warehouse)) as connection:
        connection.execute(OLD)
    assert fresh(*command) == 2
    assert "made by another version of agentlake" in fresh.err
    assert "`agentlake load`" in fresh.err


@pytest.mark.parametrize(
    "text", [f"a = {NESTED}", f"[sources.codex.options]\na = {NESTED}"]
)
def test_settings_that_are_nested_too_deeply_are_refused(text, fresh):
    fresh.config.write_text(text)
    assert fresh("load") == 2
    assert "nested too deeply" in fresh.err


@pytest.mark.parametrize("zone", ["localtime", "posixrules", "../../etc/passwd", "/"])
def test_a_zone_of_one_machine_is_no_zone(zone, fresh):
    assert fresh("report", "daily", "--tz", zone) == 2
    assert "no time zone" in fresh.err


ERRORS = [
    (OSError(errno.ENOSPC, "No space left on device", "/a/b"), "/a/b: No space left"),
    (PermissionError(errno.EACCES, "Permission denied", "/a/b"), "need the right to"),
    (MemoryError(), "/lake.duckdb: the memory"),
    (RecursionError(), "nested too deeply"),
    (duckdb.IOException("IO Error: No space left on device"), "the disk is full"),
    (duckdb.CatalogException("Table with name x"), "Run `agentlake load`"),
    (duckdb.FatalException("FATAL Error: dead\nstack"), "DuckDB stopped: FATAL Error"),
]


@pytest.mark.parametrize(("error", "said"), ERRORS, ids=lambda it: str(it)[:20])
def test_what_where_what_was_kept_and_what_to_do(error, said):
    text = explained(error, Path("/lake.duckdb"))
    assert said in text
    assert "\n" not in text
    assert text.count(". ") >= 1


def test_a_fault_of_ours_keeps_its_traceback():
    assert explained(KeyError("x"), None) is None


def test_an_error_cannot_steer_the_terminal(fresh):
    assert fresh("load", "--source", "\x1b[2Jcodex") == 2
    assert "\x1b" not in fresh.err
