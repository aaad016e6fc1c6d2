"""The command line: what people type, what they see, and which code it ends with."""

import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from support.cases import CASES
from support.terminal import LATE, LUNCH, SONNET, write_home
from support.warehouses import like

from agentlake.adapters.registry import adapters
from agentlake.errors import UserError
from agentlake.pipelines.cli.days import day, span
from agentlake.pipelines.cli.parser import REPORTS, make_parser
from agentlake.pipelines.cli.places import places
from agentlake.pipelines.cli.table import (
    Column,
    bar,
    duration,
    render,
    size,
    usd,
    usd_column,
)
from agentlake.pipelines.cli.ui import environment
from agentlake.pipelines.cli.width import shorten
from agentlake.pipelines.settings.settings import load_settings
from agentlake.pipelines.warehouse.connect import writing
from agentlake.pipelines.warehouse.one_ui import hold
from agentlake.pipelines.warehouse.publish import publish
from agentlake.sql import SQL_DIR


def of_source(said, name):
    """What a command said of one source."""
    (one,) = [it for it in said["sources"] if it["source"] == name]
    return one


def words_of(table):
    """The lines of a table, whatever its columns' widths."""
    return [" ".join(line.split()) for line in table.splitlines()]


# Help


COMMANDS = make_parser()._subparsers._group_actions[0].choices


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_an_example_of_itself(name, fresh):
    with pytest.raises(SystemExit) as end:
        fresh(name, "--help")
    assert end.value.code == 0
    out = fresh.capsys.readouterr().out
    assert f"\n  agentlake {name}" in out
    for option in ("--config", "--home", "--warehouse"):
        assert option in out


def test_no_command_shows_the_help(fresh):
    assert fresh() == 0
    assert all(name in fresh.out for name in COMMANDS)


# What is typed wrongly, and what is said of it.
WRONG = [
    ("laod", "Did you mean load?"),
    ("report dialy", "Did you mean daily?"),
    ("sql --format jsn", "unknown --format jsn. Did you mean json?"),
    ("load --sorce x", "usage: agentlake load "),
    ("load --sess x", "agentlake load: error: unrecognized arguments: --sess x"),
    ("--laod", "usage: agentlake [-h]"),
    ("report daily --limit 0", "argument --limit: must be a number above 0"),
    ("report daily --limit x", "argument --limit: must be a number above 0"),
]


@pytest.mark.parametrize(("words", "said"), WRONG)
def test_wrong_usage_is_said_and_code_2(words, said, fresh):
    with pytest.raises(SystemExit) as end:
        fresh(*words.split())
    assert end.value.code == 2
    err = fresh.capsys.readouterr().err
    assert said in err
    assert "Did you mean" not in said or len(err.splitlines()) == 1


def test_common_options_stand_before_the_command_or_after_it(terminal):
    there = terminal.environ.pop("AGENTLAKE_WAREHOUSE")
    assert len(terminal.json("--warehouse", there, "report", "daily", "--json")) == 3
    assert len(terminal.json("report", "daily", "--json", "--warehouse", there)) == 3
    assert (
        terminal("--warehouse", "/none", "report", "daily", "--warehouse", there) == 0
    )


# Load


def test_a_load_prints_what_it_did_and_where_it_looked(terminal):
    assert terminal("load") == 0
    first, second, third = words_of(terminal.out)
    assert first == "source streams read records facts rejects time"
    assert second.startswith("claude_code 2 0 0 0 0 ")
    assert third.endswith(" other agents not found: `agentlake doctor`")
    assert str(terminal.warehouse) in terminal.err
    assert "\x1b" not in terminal.out + terminal.err


def test_places_are_those_of_this_platform(fresh, monkeypatch):
    everywhere = ["~/.a", "/b", "~/Library/c", "~/AppData/d", f"{fresh.home}/.e"]
    shown = {"linux": "~/.a, /b, ~/.e", "darwin": "~/.a, /b, ~/Library/c, ~/.e"}
    for platform, text in shown.items():
        monkeypatch.setattr("sys.platform", platform)
        assert places(everywhere, fresh.home) == text
        assert places(everywhere, fresh.home, most=2) == "~/.a, /b, ..."
    assert places(["~/Library/c"], fresh.home, most=2) == "~/Library/c"


def test_quiet_means_quiet(terminal):
    assert terminal("load", "--quiet") == 0
    assert (terminal.out, terminal.err) == ("", "")


def test_a_load_as_json_has_everything(own):
    with own.claude[0].open("a") as file:
        file.write("no json\n")
    said = own.json("load", "--json")
    assert (said["complete"], said["time_zone"]) == (True, "Europe/Berlin")
    assert said["warehouse"]["path"] == str(own.warehouse)
    claude = of_source(said, "claude_code")
    assert {name: claude[name] for name in ("read", "records", "rejects")} == {
        "read": 1,
        "records": 1,
        "rejects": 1,
    }
    assert {"core.usage", "marts.daily_usage"} <= {
        one["model"] for one in said["models"]
    }


def test_a_load_of_nothing_new_refreshes_nothing(terminal):
    assert terminal.json("load", "--json")["models"] == []


def test_changed_prices_cost_everything_again_without_a_load(terminal):
    with terminal.config.open("a") as file:
        file.write('[prices."mystery-1"]\ninput = 1\noutput = 1\n')
    terminal("load")
    by_model = {row["model"]: row for row in terminal.json("report", "model", "--json")}
    assert by_model["mystery-1"]["cost_usd"] == 0.000015


def test_rejects_are_told_and_only_strict_minds(own):
    with own.claude[0].open("a") as file:
        file.write("no json\n")
    assert own("load") == 0
    assert "1 new reject: `agentlake rejects`" in own.err
    with own.claude[0].open("a") as file:
        file.write("no json either\n")
    assert own("load", "--strict") == 1
    rejects = own.json("rejects", "--json")
    assert [(row["path"], row["line"]) for row in rejects] == [
        (str(own.claude[0]), 5),
        (str(own.claude[0]), 4),
    ]
    assert own("rejects", "--limit", "1") == 0
    assert f"{own.claude[0].name}:5" in own.out


def test_a_damaged_archive_is_deferred_and_code_1(own):
    folder = own.home / ".codex/sessions/2026/11/30"
    folder.mkdir(parents=True)
    thread = "019b0000-0000-7000-8000-0000000000a1"
    bad = folder / f"rollout-2026-11-30T10-00-00-{thread}.jsonl.zst"
    bad.write_bytes(b"this is no zstd")
    assert own("load") == 1
    assert str(bad) in own.err
    assert "the next load tries again" in own.err
    assert own("doctor") == 1
    assert f"! codex: {bad}: " in own.out
    assert "codex 1 1 0 0 - - 1 deferred" in words_of(own.out)
    assert of_source(own.json_of("doctor", "--json"), "codex")["streams"] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--source", "claudecode"], "Did you mean claude_code?"),
        (["--path", "/nowhere/at/all"], "there is no such file or folder"),
        (["--path", "/"], None),
        (["--path", "{home}/.claude/projects"], None),
        (["--path", "{home}/.codex"], "there is no such file or folder"),
        (["--session", "zzz"], "no history matches"),
        (["--path", "{config}"], "no history matches"),
        (["--tz", "x"], None),
    ],
)
def test_what_cannot_be_loaded_is_said(words, message, terminal):
    words = [word.format(home=terminal.home, config=terminal.config) for word in words]
    if words[0] == "--tz":
        with pytest.raises(SystemExit):
            terminal("load", *words)
    elif message is None:
        assert terminal("load", *words) == 0
    else:
        assert terminal("load", *words) == 2
        assert message in terminal.err
        assert terminal.err.startswith("agentlake: ")


def test_a_source_that_is_switched_off_is_not_loaded(fresh, empty_warehouse):
    like(empty_warehouse, fresh.warehouse)
    write_home(fresh.home)
    fresh.config.write_text("[sources.claude_code]\nenabled = false\n")
    assert fresh("load", "--source", "claude_code") == 2
    assert "switched off" in fresh.err
    assert {"claude_code", *fresh.sources()} == set(adapters())
    assert "claude_code" not in fresh.sources()


def test_a_path_or_a_session_loads_only_that(fresh, empty_warehouse):
    like(empty_warehouse, fresh.warehouse)
    write_home(fresh.home)
    late, lunch = fresh.claude
    assert fresh.sources("--path", lunch)["claude_code"]["records"] == 2
    assert fresh.sources("--session", LATE[:8])["claude_code"]["records"] == 3
    assert fresh.sources("--path", late.parent)["claude_code"]["records"] == 0
    shorter = late.with_name(late.name[:4])  # begins the same, is something else
    shorter.mkdir()
    assert fresh("load", "--path", shorter) == 2


# Report


DAYS = {
    "Europe/Berlin": [("2026-11-30", 1), ("2026-11-29", 1), ("2026-11-28", 1)],
    "UTC": [("2026-11-30", 1), ("2026-11-28", 2)],
    "Asia/Tokyo": [("2026-11-30", 1), ("2026-11-29", 2)],
}


@pytest.mark.parametrize("zone", DAYS)
def test_a_call_belongs_to_its_day_in_the_zone(zone, terminal):
    rows = terminal.json("report", "daily", "--tz", zone, "--json")
    assert [(row["usage_date"], row["calls"]) for row in rows] == DAYS[zone]


def test_the_zone_of_the_settings_counts_without_a_load(terminal):
    terminal.config.write_text('time_zone = "Asia/Tokyo"\n')
    rows = terminal.json("report", "daily", "--json")
    assert [(row["usage_date"], row["calls"]) for row in rows] == DAYS["Asia/Tokyo"]


def test_the_daily_json_has_exactly_the_columns_of_the_mart(terminal):
    words = ["--breakdown", "--json", "--until", "2026-11-28"]
    row = terminal.json("report", "daily", *words)
    assert row == [
        {
            "usage_date": "2026-11-28",
            "source": "claude_code",
            "model": SONNET,
            "calls": 1,
            "input_tokens": 1000,
            "cache_read_tokens": None,
            "cache_write_tokens": None,
            "output_tokens": 100,
            "web_search_requests": None,
            "cost_usd": 0.0045,
            "unpriced_calls": 0,
            "cost_low_usd": 0.0045,
            "cost_high_usd": 0.0045,
            "assumed_cost_usd": None,
            "reported_only_usd": None,
            "unknown_cost_calls": 0,
        }
    ]


IN_TOKENS = [name for name in REPORTS if name != "unit"]
"""What the invented home has; other units are shown by their own test."""


@pytest.mark.parametrize("name", IN_TOKENS)
def test_json_has_the_columns_of_the_mart_in_its_order(name, terminal):
    special = {"session": "session_summary", "windows": "usage_windows"}
    periods = {"daily": "usage_date", "weekly": "week_date", "monthly": "month_date"}
    mart = "daily_usage" if name in periods else special.get(name, f"{name}_usage")
    (row, *_) = terminal.json("report", name, "--json")
    said = terminal.json("sql", f"describe marts.{mart}", "--format", "json")
    columns = [column["column_name"] for column in said]
    if name in periods:  # the same sums, of all sources and models together
        columns = [periods[name], *columns[1:]]
        assert sorted(row) == sorted(set(columns) - {"source", "model"})
    else:
        assert list(row) == columns


def test_a_session_is_told_in_utc_with_its_models_as_a_list(terminal):
    rows = terminal.json("report", "session", "--json")
    newest = rows[0]
    assert [row["session_id"] for row in rows] == [LUNCH, LATE]
    assert newest["started_at"] == "2026-11-30T11:00:00Z"
    assert newest["models"] == ["mystery-1"]
    assert newest["cost_usd"] is None
    assert newest["unpriced_calls"] == 1


# since, until -> calls
SPANS = [
    (None, None, 3),
    ("2026-11-28", "2026-11-28", 1),
    ("2026-11-29", "2026-11-29", 1),
    ("2026-11-28", "2026-11-29", 2),
    ("2026-11-29", None, 2),
    (None, "2026-11-29", 2),
    ("2026-11-30", "2026-11-30", 1),
    ("2026-12-01", None, 0),
    (None, "2026-11-27", 0),
]


@pytest.mark.parametrize(("since", "until", "calls"), SPANS)
def test_since_and_until_are_both_included(since, until, calls, terminal):
    asked = {"--since": since, "--until": until}
    words = [word for pair in asked.items() if pair[1] for word in pair]
    rows = terminal.json("report", "daily", "--json", *words)
    assert sum(row["calls"] for row in rows) == calls
    assert all(row["calls"] for row in rows)


# A window belongs to the day on which it began, whatever was called in it.
@pytest.mark.parametrize("name", [name for name in IN_TOKENS if name != "windows"])
def test_every_report_counts_the_same_calls_of_the_same_days(name, terminal):
    for since, until, calls in SPANS[1:4]:
        if name in {"weekly", "monthly"}:
            continue
        words = ["--since", since, "--until", until]
        rows = terminal.json("report", name, "--json", *words)
        assert sum(row["calls"] for row in rows) == calls


WEEKS = [("2026-11-30", 1), ("2026-11-23", 2)]  # begin on Mondays; Berlin's days


def test_days_are_added_up_to_weeks_and_months(terminal):
    weeks = terminal.json("report", "weekly", "--json")
    assert [(row["week_date"], row["calls"]) for row in weeks] == WEEKS
    (month,) = terminal.json("report", "monthly", "--json")
    assert (month["month_date"], month["calls"]) == ("2026-11-01", 3)
    assert month["cost_usd"] == 0.0135
    by_model = terminal.json("report", "monthly", "--by", "model", "--json")
    assert [(row["model"], row["calls"]) for row in by_model] == [
        (SONNET, 2),
        ("mystery-1", 1),
    ]


# Options -> the calls that are left of the three
CHOSEN = [
    (["--source", "claude_code"], 3),
    (["--source", "codex"], 0),
    (["--source", "codex", "--source", "claude_code"], 3),
    (["--model", SONNET], 2),
    (["--model", "*SONNET*"], 2),
    (["--model", "mystery-1", "--model", SONNET], 3),
    (["--model", "mystery-1", "--source", "codex"], 0),
    (["--project", "/home/ada/shop"], 3),
    (["--project", "/home/ada"], 3),
    (["--project", "/home/ada/"], 3),
    (["--project", "shop"], 3),
    (["--project", "/home/ada/sho"], 0),
    (["--project", "ada"], 0),
    (["--project", "shop", "--model", "mystery-1"], 1),
]


@pytest.mark.parametrize("name", ["daily", "monthly", "session", "model", "project"])
@pytest.mark.parametrize(("words", "calls"), CHOSEN)
def test_every_report_can_be_of_a_part(name, words, calls, terminal):
    rows = terminal.json("report", name, "--json", *words)
    assert sum(row["calls"] for row in rows) == calls


# Words -> what is said
UNFIT = [
    (["daily", "--model", "opus"], "no call was made to a model opus"),
    (["daily", "--model", "mystery-2"], "Did you mean mystery-1?"),
    (["daily", "--source", "codx"], "Did you mean codex?"),
    (["tool", "--model", SONNET], "report tool cannot be limited by --model"),
    (["windows", "--project", "shop"], "cannot be limited by --project"),
    (["session", "--by", "model"], "--by and --breakdown are for daily, weekly and"),
    (["daily", "--sort", "cst"], "Did you mean cost?"),
]


@pytest.mark.parametrize(("words", "said"), UNFIT)
def test_options_that_do_not_fit_are_refused(words, said, terminal):
    assert terminal("report", *words) == 2
    assert said in terminal.err


def test_a_report_is_sorted_by_any_of_its_columns(terminal):
    rows = terminal.json("report", "daily", "--sort", "output", "--json")
    assert [row["output_tokens"] for row in rows] == [200, 100, 8]
    rows = terminal.json("report", "session", "--sort", "title", "--json")
    titles = [row["title"] for row in rows]
    assert titles == sorted(titles)


def test_a_report_without_a_name_is_the_daily_one(terminal):
    assert terminal("report") == 0
    bare = terminal.out
    assert terminal("report", "daily") == 0
    assert terminal.out == bare


def test_a_report_as_csv(terminal):
    assert terminal("report", "monthly", "--csv") == 0
    header, row = terminal.out.splitlines()
    assert header.startswith("month_date,calls,input_tokens")
    assert row.startswith("2026-11-01,3,3007")


def test_what_there_is_no_room_for_is_said(terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "44")
    assert terminal("report", "daily") == 0
    assert "No room for cache read, cache write: widen" in terminal.err


def test_a_session_over_midnight_counts_in_each_day_what_was_done_in_it(terminal):
    one_day = ["--since", "2026-11-29", "--until", "2026-11-29"]
    (row,) = terminal.json("report", "session", "--json", *one_day)
    assert (row["session_id"], row["messages"], row["tool_calls"]) == (LATE, 1, 1)
    assert (row["input_tokens"], row["cost_usd"]) == (2000, 0.009)


def test_a_report_of_one_source(terminal):
    assert terminal.json("report", "daily", "--json", "--source", "codex") == []
    assert (
        len(terminal.json("report", "daily", "--json", "--source", "claude_code")) == 3
    )
    assert terminal("report", "daily", "--source", "codexx") == 2
    assert "Did you mean codex?" in terminal.err


def test_the_daily_table_has_a_total_and_says_what_has_no_price(terminal):
    assert terminal("report", "daily") == 0
    first, newest, middle, _, last = words_of(terminal.out)
    assert first == "date calls input cache read cache write output cost"
    assert newest == "2026-11-30 1 7 - - 8 -"
    assert middle == "2026-11-29 1 2,000 - - 200 $0.0090"
    assert last == "total 3 3,007 - - 308 >=$0.0135"
    assert "1 call has no known cost" in terminal.err
    assert "mystery-1 (1)" in terminal.err
    assert ">= means more than this." in terminal.err
    assert "a subscription costs its fee" in terminal.err
    assert "`from marts.unpriced_models`" in terminal.err
    terminal("report", "daily", "--json")
    assert "= means" not in terminal.err


def test_a_limited_table_says_so_and_its_total_is_of_all(terminal):
    assert terminal("report", "daily", "--limit", "1") == 0
    assert terminal.out.splitlines()[-1].split()[:2] == ["total", "3"]
    assert "the first row of 3, the total is of all" in terminal.err
    assert terminal("report", "daily", "--limit", "2") == 0
    assert "the first 2 rows of 3, the total is of all" in terminal.err
    assert terminal("report", "session", "--limit", "1") == 0
    assert "the first row of 2; --all" in terminal.err
    assert len(terminal.json("report", "daily", "--json", "--limit", "2")) == 2


def test_times_in_tables_are_local_and_titles_cannot_steer_the_terminal(terminal):
    assert terminal("report", "session") == 0
    assert "2026-11-30 12:00" in terminal.out
    assert "\x1b" not in terminal.out


@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize("name", IN_TOKENS)
def test_a_table_fits_the_terminal(name, width, terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    terminal("report", name)
    assert max(len(line) for line in terminal.out.splitlines()) <= width


def test_an_empty_warehouse_is_a_line_and_no_error(fresh, empty_warehouse):
    assert fresh("report", "daily") == 2
    assert fresh.out == ""
    assert "agentlake load" in fresh.err
    duckdb.connect(str(fresh.warehouse)).close()  # a file without a table
    assert fresh("report", "daily") == 0
    assert "agentlake load" in fresh.err
    assert fresh.json("report", "daily", "--json") == []
    like(empty_warehouse, fresh.warehouse)
    assert fresh("report", "session") == 0
    assert "Nothing yet" in fresh.err
    assert fresh("report", "session", "--since", "7d") == 0
    assert "there are no calls yet" in fresh.err


# Options -> what is said of the days
EMPTY = [
    (["--since", "2026-12-01"], "from 2026-12-01 on"),
    (["--until", "2026-11-02"], "up to 2026-11-02"),
    (["--since", "2026-12-01", "--until", "2026-12-01"], "on 2026-12-01"),
    (
        ["--since", "2026-12-01", "--until", "2026-12-03"],
        "from 2026-12-01 to 2026-12-03",
    ),
]


@pytest.mark.parametrize(("words", "days"), EMPTY)
def test_an_empty_report_says_which_days_are_empty(words, days, terminal):
    assert terminal("report", "daily", *words) == 0
    assert terminal.err == f"Nothing {days}; the newest call was on 2026-11-30.\n"


TODAY = date(2026, 3, 29)  # Berlin's clocks skip an hour on this day
TYPED = {
    "2026-11-30": date(2026, 11, 30),
    "today": TODAY,
    "20261130": date(2026, 11, 30),
    "yesterday": date(2026, 3, 28),
    "1d": TODAY,
    "7d": date(2026, 3, 23),
    "1w": date(2026, 3, 23),
    "2w": date(2026, 3, 16),
}


@pytest.mark.parametrize("text", TYPED)
def test_days_as_they_are_typed(text):
    assert day(text, "--since", TODAY) == TYPED[text]


@pytest.mark.parametrize(
    "text", ["", "0d", "0w", "2026-06-31", "202606-01", "20260631", "9999-12-31", "x"]
)
def test_what_is_no_day_is_refused(text):
    with pytest.raises(UserError, match="is no day"):
        day(text, "--since", TODAY)


SPANS_IN_ZONES = [
    ("Europe/Berlin", "2026-03-29", "2026-03-28T23:00", "2026-03-29T22:00"),
    (
        "Africa/Cairo",
        "2026-04-24",
        "2026-04-23T22:00",
        "2026-04-24T21:00",
    ),  # no midnight
    ("America/Havana", "2026-11-01", "2026-11-01T04:00", "2026-11-02T05:00"),  # two
]


@pytest.mark.parametrize(("zone", "one", "begins", "ends"), SPANS_IN_ZONES)
def test_a_day_is_as_long_as_its_clock_says(zone, one, begins, ends):
    since, until = span(one, one, zone, TODAY)
    assert since.isoformat() == f"{begins}:00+00:00"
    assert until.isoformat() == f"{ends}:00+00:00"


def test_since_after_until_is_refused(terminal):
    assert terminal("report", "daily", "--since", "today", "--until", "2026-01-01") == 2
    assert "is after" in terminal.err


# SQL


def test_a_query_as_json_csv_and_table(terminal):
    query = "select model, sum(cost_usd) as cost_usd, min(called_at) as at, [1] as list"
    query += f" from core.usage where model = '{SONNET}' group by all"
    assert terminal.json("sql", query, "--format", "json") == [
        {"model": SONNET, "cost_usd": 0.0135, "at": "2026-11-28T22:30:00Z", "list": [1]}
    ]
    terminal("sql", query, "--format", "csv")
    first, second = terminal.out.splitlines()
    assert first == "model,cost_usd,at,list"
    assert second == f"{SONNET},0.013500,2026-11-28T22:30:00Z,[1]"
    terminal("sql", query)
    assert SONNET in terminal.out.splitlines()[1]


def test_a_query_comes_from_a_file_or_from_stdin(terminal, monkeypatch, tmp_path):
    file = tmp_path / "question.sql"
    file.write_text("select 42 as answer")
    assert terminal("sql", "-f", file, "--format", "csv") == 0
    assert terminal.out == "answer\n42\n"
    with file.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert terminal("sql", "-", "--format", "csv") == 0
    assert terminal.out == "answer\n42\n"
    assert terminal("sql", "select 1", "-f", file) == 2
    assert terminal("sql", "-f", tmp_path / "none.sql") == 2


def test_without_a_query_the_tables_are_listed_with_what_they_are(terminal):
    assert terminal("sql") == 0
    for name in ("marts.daily_usage", "core.usage", "staging.usage", "raw.claude_code"):
        assert f"\n{name} " in terminal.out
    names = {
        row["name"]: row["rows"] for row in terminal.json("sql", "--format", "json")
    }
    shown = [name for name in names if name.startswith("marts.")]
    assert len(shown) >= len(REPORTS)
    assert {"core.tool_calls", "core.prices", "core.usage"} <= names.keys()
    assert names["core.usage"] == 3
    assert names["core.prices"] is names["marts.daily_usage"] is None
    assert not [name for name in names if "._" in name]
    terminal("sql")
    assert "One row per day, source and model" in terminal.out


@pytest.mark.parametrize(
    ("query", "given"),
    [
        ("select 1; select 2", "2 were"),
        ("from core.usage;;select 2;", "2 were"),
        (";", "none was"),
    ],
)
def test_sql_takes_one_statement(query, given, terminal):
    assert terminal("sql", query) == 2
    assert f"one statement at a time; {given} given" in terminal.err
    for one in (
        "select ';' as a -- one; really",
        "select 'é;'; -- é; ü",
        "; select 1;;",
    ):
        assert terminal("sql", one) == 0


def test_a_query_as_parquet(terminal, tmp_path):
    file = tmp_path / "answer.parquet"
    assert terminal("sql", "from core.usage; -- all", "--parquet", file) == 0
    assert "3 rows in " in terminal.err
    assert terminal.out == ""
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    rows = duckdb.sql(f"select count(*), sum(cost_usd) from '{file}'").fetchall()
    assert rows == [(3, Decimal("0.013500"))]
    kind = duckdb.sql(f"select typeof(called_at) from '{file}' limit 1").fetchall()
    assert kind == [("TIMESTAMP WITH TIME ZONE",)]
    before = file.read_bytes()
    for query, said in {
        "from core.usage, range(100000000000)": "stopped after 1 s",
        "select interval 1 month as a": "Cast it to text",
        "copy core.usage to 'x.parquet'": "COPY is refused",
    }.items():
        assert terminal("sql", query, "--parquet", file, "--timeout", "1") == 2
        assert said in terminal.err
    assert terminal("sql", "select 1", "--parquet", tmp_path / "no/x.parquet") == 2
    assert "Nothing was written" in terminal.err
    assert file.read_bytes() == before
    assert [path for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


@pytest.mark.slow
def test_a_query_may_take_so_much_time_and_memory(terminal):
    endless = "select count(*) from range(1000000000) as a, range(1000000) as b"
    assert terminal("sql", endless, "--timeout", "1") == 2
    assert "stopped after 1 s" in terminal.err
    assert "--timeout" in terminal.err
    greedy = "select list(repeat(range::varchar, 100)) from range(1000000000)"
    assert terminal("sql", greedy) == 2
    assert "more than 1 GB of memory" in terminal.err
    assert not list(terminal.warehouse.parent.glob(".*.spill"))


# A wrong query -> what helps
HELP = {
    "from dayly_usage": 'Did you mean "daily_usage',
    "from marts.dayly_usage": 'Did you mean "daily_usage',
    "select modle from core.usage": 'Candidate bindings: "model"',
    "select count( from core.usage": "^",
    "from spend_by_dya()": 'Did you mean "spend_by_day',
}


@pytest.mark.parametrize("query", HELP)
def test_a_wrong_query_gets_help(query, terminal):
    assert terminal("sql", query) == 2
    assert HELP[query] in terminal.err


# The macros

# Macro -> its first columns, of all rows
ANSWERS = {
    "spend_by_day()": [
        ("2026-11-30", 1, 7, None, None, 8, None, 1),
        ("2026-11-29", 1, 2000, None, None, 200, 0.009, 0),
        ("2026-11-28", 1, 1000, None, None, 100, 0.0045, 0),
    ],
    "spend_by_day(since := '2026-11-29', until := date '2026-11-29')": [
        ("2026-11-29", 1, 2000)
    ],
    "cache_hit_rate(until := '2026-11-29')": [
        ("claude_code", SONNET, 2, 3000, 0, None)
    ],
    "sessions_of('shop')": [("claude_code", LUNCH), ("claude_code", LATE)],
    "sessions_of('/home/ada/shop')": [("claude_code", LUNCH), ("claude_code", LATE)],
    "sessions_of('/home/ada')": [("claude_code", LUNCH), ("claude_code", LATE)],
    "sessions_of('hop')": [],
    "project_sessions('shop') order by all": [
        ("claude_code", min(LATE, LUNCH)),
        ("claude_code", max(LATE, LUNCH)),
    ],
    "tool_failures()": [],
    "prompts_with('DO B')": [("2026-11-30T11:00:00Z", "claude_code", LUNCH)],
    f"lines_of('msg_1{LATE}')": [("claude_code", f"msg_1{LATE}")],
}


@pytest.mark.parametrize("macro", ANSWERS)
def test_a_macro_answers_its_question(macro, terminal):
    rows = terminal.json("sql", f"from {macro}", "--json")
    found = [tuple(row.values()) for row in rows]
    expected = ANSWERS[macro]
    assert [row[: len(one)] for row, one in zip(found, expected, strict=True)] == (
        expected
    )


def test_every_macro_is_listed_and_documented_and_there_for_any_client(terminal):
    listed = {
        row["name"]: row["description"]
        for row in terminal.json("sql", "--json")
        if "(" in row["name"]
    }
    assert {name.partition("(")[0] for name in listed} == {
        macro.partition("(")[0] for macro in ANSWERS
    }
    readme = (SQL_DIR / "README.md").read_text()
    for name, description in listed.items():
        assert name in readme
        assert description.startswith("One row per ")
    with duckdb.connect(str(terminal.warehouse), read_only=True) as client:
        assert len(client.execute("from spend_by_day()").fetchall()) == 3


# Export


def test_every_mart_is_exported_or_what_is_named(terminal, tmp_path):
    folder = tmp_path / "deep/lake"
    written = terminal.json("export", folder, "--json")
    marts = {f"{path.stem}.parquet" for path in (SQL_DIR / "marts").glob("[!_]*.sql")}
    assert {Path(one["path"]).name for one in written} == {f"marts.{m}" for m in marts}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    daily = folder / "marts.daily_usage.parquet"
    assert duckdb.sql(f"select count(*) from '{daily}'").fetchall() == [(3,)]
    assert terminal("export", tmp_path / "few", "core.usage", "raw.claude_code") == 0
    assert sorted(path.name for path in (tmp_path / "few").iterdir()) == [
        "core.usage.parquet",
        "raw.claude_code.parquet",
    ]
    assert terminal("export", tmp_path / "few", "daily_usage") == 2
    assert "Did you mean marts.daily_usage?" in terminal.err


def test_a_query_is_exported(terminal, tmp_path):
    file = tmp_path / "x.parquet"
    query = "select sum(calls) as calls from marts.daily_usage;"
    assert terminal("export", file, "--query", query) == 0
    assert duckdb.sql(f"from '{file}'").fetchall() == [(3,)]
    assert terminal("export", file, "core.usage", "--query", query) == 2
    assert terminal("export", file, "core.usage") == 2
    assert "is to be a folder" in terminal.err


def test_numbers_in_sql_can_be_copied(terminal):
    query = (
        "select 12345678 as id, 0.5::decimal(9, 6) as half, 0::decimal(38, 18) as no,"
    )
    terminal("sql", f"{query} 1200::decimal(9, 2) as many")
    assert words_of(terminal.out)[1] == "12345678 0.5 0 1200"


def test_no_rows_are_said(terminal):
    assert terminal("sql", "from core.usage where false") == 0
    assert terminal.err == "(no rows)\n"
    assert terminal("sql", "from core.usage where false", "--format", "csv") == 0
    assert terminal.err == ""


def test_days_in_sql_are_those_of_the_settings(terminal):
    query = "select distinct cast(called_at as date) as d from core.usage order by d"
    rows = terminal.json("sql", query, "--format", "json")
    assert [row["d"] for row in rows] == ["2026-11-28", "2026-11-29", "2026-11-30"]


def test_a_query_is_limited_on_demand(terminal):
    rows = terminal.json("sql", "from range(10)", "--format", "json", "--limit", "3")
    assert len(rows) == 3
    terminal("sql", "from range(1000)")
    assert len(terminal.out.splitlines()) == 201
    assert "the first 200 rows" in terminal.err


REFUSED = [
    "selec 1",
    "from nothing",
    "from terminal",  # no Python variable either
    "delete from core.usage",
    "create table core.x as select 1",
    "copy (select 1) to '{folder}/x.csv'",
    "copy (select 1) to '{warehouse}'",
    "export database '{folder}/x'",
    "attach '{folder}/x.duckdb' as x",
    "attach ':memory:' as x",
    "attach '{warehouse}' as x (read_only)",
    "select * from read_csv('https://example.com/x.csv')",
    "from duckdb_secrets()",
    "call enable_logging()",
    "set variable time_zone = 'UTC'",
    "create temp table x as select 1",
    "set memory_limit = '100GB'",
    "select * from read_text('{config}')",
    "from '{config}'",
    "select * from glob('/*')",
    "install httpfs",
    "load httpfs",
    "set enable_external_access = true",
    "reset lock_configuration",
    "pragma enable_profiling",
    "select 1; drop table core.usage",
]


@pytest.mark.parametrize("query", REFUSED)
def test_nothing_but_reading_the_warehouse_is_possible(query, terminal, tmp_path):
    before = terminal.warehouse.read_bytes()
    query = query.format(
        folder=tmp_path, config=terminal.config, warehouse=terminal.warehouse
    )
    assert terminal("sql", query) == 2
    assert terminal.err.startswith("agentlake: ")
    assert "Traceback" not in terminal.err
    assert terminal.warehouse.read_bytes() == before
    assert not list(tmp_path.glob("x*"))


def test_sql_without_a_warehouse_says_how_to_make_one(fresh):
    assert fresh("sql", "select 1") == 2
    assert "no warehouse yet" in fresh.err
    assert not fresh.warehouse.exists()


# Doctor, verify, replay


def test_other_units_have_a_report_of_their_own(fresh, empty_warehouse):
    like(empty_warehouse, fresh.warehouse)
    (case,) = [it for it in CASES if it.id == "warp/conversations"]
    shutil.copytree(case.home, fresh.home, dirs_exist_ok=True)
    assert fresh("load") == 0
    rows = fresh.json("report", "unit", "--json")
    assert {row["unit"] for row in rows} == {"credits", "unsplit_tokens"}
    credits = [row["amount"] for row in rows if row["unit"] == "credits"]
    assert sum(credits) == pytest.approx(4.8)  # 0.1 + 0.5 + 4.2, by day
    assert fresh("report", "daily") == 0
    assert "`agentlake report unit`" in fresh.err


def test_a_fine_machine(terminal):
    said = terminal.json("doctor", "--json")
    claude = of_source(said, "claude_code")
    assert (claude["streams"], claude["records"], claude["rejects"]) == (2, 5, 0)
    assert claude["unloaded"]["deleted_after_days"] == 30
    assert claude["last_message_at"] == "2026-11-30T11:00:00Z"
    assert said["unpriced"] == [
        {
            "source": "claude_code",
            "model": "mystery-1",
            "calls": 1,
            "because": "no price list that we know has the name",
        }
    ]
    assert terminal("doctor") == 0
    assert "claude_code 2 - 2 5 2026-11-30 12:00 30 days -" in words_of(terminal.out)
    assert re.search("^not found .* codex, ", terminal.out, re.MULTILINE)
    assert of_source(said, "codex")["searched"] == ["~/.codex"]
    assert terminal.out.endswith("All is well.\n")


# What the settings of Claude Code say, the age of a file that is not loaded -> at risk
CLEAN_UPS = [
    (None, 20, 0),
    (None, 24, 1),
    (None, 400, 1),
    ({"cleanupPeriodDays": 99999}, 400, 0),
    ({"cleanupPeriodDays": 10}, 5, 1),
    ({"cleanupPeriodDays": "odd"}, 24, 1),
    ({"model": "opus"}, 20, 0),
]


@pytest.mark.parametrize(("settings", "age", "at_risk"), CLEAN_UPS)
def test_history_that_the_agent_will_delete_soon_is_loud(settings, age, at_risk, fresh):
    write_home(fresh.home)
    if settings is not None:
        (fresh.home / ".claude/settings.json").write_text(json.dumps(settings))
    then = fresh.claude[0].stat().st_mtime - age * 86_400 - 60
    os.utime(fresh.claude[0], (then, then))
    assert fresh("doctor") == at_risk
    assert ("! claude_code: 1 of its streams" in fresh.out) == bool(at_risk)
    assert not fresh.warehouse.exists()


def test_what_is_gone_from_disk_is_told_and_kept(own):
    own.claude[0].unlink()
    own("load")
    assert own("doctor") == 0
    line = next(it for it in words_of(own.out) if it.startswith("claude_code "))
    assert line.startswith("claude_code 1 - 2 5 ")
    assert line.endswith("1 gone from disk, kept here")
    own.claude[0].unlink()
    own("load")
    own("doctor")
    assert "claude_code 0 - 2 5 " in "\n".join(words_of(own.out))
    assert len(own.json("report", "session", "--json")) == 2


@pytest.mark.slow
def test_verify_finds_a_row_that_should_not_be_there(terminal):
    assert terminal("verify") == 0
    assert "DIFFERENT" not in terminal.out
    assert "checks, 0 of them failing" in terminal.out
    with writing(terminal.warehouse) as connection:
        connection.execute(
            "update core.usage set output_tokens = 1 where input_tokens = 7"
        )
    publish(terminal.warehouse)
    assert terminal("verify", "--json") == 1
    said = json.loads(terminal.out)
    differs = [one for one in said["tables"] if not one["is_equal"]]
    assert [(one["model"], one["missing"], one["extra"]) for one in differs] == [
        ("core.usage", 1, 1)
    ]
    assert not list(terminal.warehouse.parent.glob(".verify*"))
    days = next(one for one in said["checks"] if one["name"] == "days_add_up")
    assert days["bad"] == 0


@pytest.mark.slow
def test_verify_prints_the_query_that_finds_what_a_check_found(terminal):
    with writing(terminal.warehouse) as connection:
        connection.execute("update core.messages set role = 'ghost'")
        connection.execute("update staging.usage set generation = -1")
    publish(terminal.warehouse)
    assert terminal("verify") == 1
    assert "warn: core.messages values_role: 5 bad." in terminal.out
    assert "error: staging.usage frame: 3 bad." in terminal.out
    lines = terminal.out.splitlines()
    query = lines[lines.index(next(it for it in lines if " values_role: " in it)) + 1]
    assert len(terminal.json("sql", query, "--format", "json")) == 5


def test_verify_of_the_files_tells_what_changed_unseen(own):
    assert own("load") == 0
    assert own("verify", "--files") == 0
    transcript = own.claude[0]
    status = transcript.stat()
    transcript.write_bytes(transcript.read_bytes().replace(b"2026", b"2025"))
    os.utime(transcript, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert own("verify", "--files") == 1
    assert f"{transcript}:1 is not as it was loaded" in own.err
    assert own.json_of("verify", "--files", "--json")[0]["unseen"]
    assert own("load") == 0
    assert own("verify", "--files") == 0


def test_verify_of_what_is_not_up_to_date_says_so(terminal):
    with writing(terminal.warehouse) as connection:
        connection.execute(
            "insert into meta.loads values (99, now(), now(), 0, 0, 0, 0)"
        )
    publish(terminal.warehouse)
    assert terminal("verify") == 2
    assert "nothing was compared" in terminal.err


@pytest.mark.slow
def test_replay_parses_everything_again_and_changes_nothing(terminal):
    # All but which load wrote the row.
    rows = "select * exclude (load_id) from core.usage order by all"
    query = ["sql", rows, "--format", "csv"]
    terminal(*query)
    before = terminal.out
    assert terminal("replay", "claude_code") == 0
    assert "claude_code" in terminal.out
    assert "5 records parsed again" in terminal.err
    terminal(*query)
    assert terminal.out == before
    assert terminal("replay", "claud_code") == 2


# Demo and UI


def test_the_demo_shows_reports_and_touches_nothing_else(fresh):
    kept = fresh.home / "demo.duckdb"
    assert fresh("demo", "--keep", kept) == 0
    for report in ("daily", "session --limit 10", "model"):
        assert f"agentlake report {report}\n" in fresh.out
    assert "`agentlake load`" in fresh.out.splitlines()[-1]
    assert str(kept) in fresh.err
    assert not fresh.warehouse.exists()
    names = {path.name for path in fresh.home.iterdir()}
    assert names == {"demo.duckdb", "demo.vault.duckdb", ".demo.duckdb.copying"}
    rows = fresh.json("report", "model", "--warehouse", kept, "--json")
    assert {row["source"] for row in rows} == {"claude_code", "codex"}
    before = kept.read_bytes()
    assert fresh("demo", "--keep", kept) == 2
    assert kept.read_bytes() == before


def test_the_ui_does_not_start_on_a_port_that_is_taken(fresh):
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert fresh("ui", "--port", server.getsockname()[1]) == 2
    assert "cannot be used" in fresh.err
    assert not list(fresh.warehouse.parent.glob("*dagster"))


@pytest.mark.parametrize(
    ("file", "what"),
    [("lake.dagster/agentlake-ui.lock", "Dagster folder"), (".{}.ui", "warehouse")],
)
def test_a_second_ui_is_told_who_runs_the_first(fresh, file, what):
    path = fresh.warehouse.parent / file.format(fresh.warehouse.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    script = (
        "import sys, time; from pathlib import Path;"
        "from agentlake.pipelines.warehouse.one_ui import hold;"
        "hold(Path(sys.argv[1]), 'x', 'http://a:1'); print(flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as first:
        first.stdout.readline()
        assert fresh("ui", "--port", 39_471) == 2
        first.kill()
    told = f"runs on this {what} (pid {first.pid}, http://a:1)"
    assert told in fresh.err
    hold(path, "x", "")  # a killed one is in nobody's way


def test_the_ui_stops_and_its_state_is_the_warehouse_s_own(fresh, monkeypatch):
    signals, started = {}, []
    monkeypatch.setattr("signal.signal", signals.__setitem__)
    monkeypatch.setattr("os.execve", lambda *words: started.append(words))
    fresh("ui", "--port", 39_471)
    assert signals == {signal.SIGINT: signal.SIG_DFL, signal.SIGTERM: signal.SIG_DFL}
    ((_, _, environ),) = started
    assert environ["DAGSTER_HOME"] == str(fresh.warehouse.with_name("lake.dagster"))
    fresh(
        "ui",
        "--port",
        39_471,
        "--warehouse",
        fresh.home / ".agentlake/agentlake.duckdb",
    )
    assert started[-1][-1]["DAGSTER_HOME"] == str(fresh.home / ".agentlake/dagster")


def test_dagster_sees_the_settings_of_the_command(fresh):
    settings = load_settings(
        config=fresh.config,
        home=fresh.home,
        warehouse=fresh.warehouse,
        environ={"HOME": str(fresh.home.parent)},
        known_sources=[],
    )
    environ = environment(settings, {"HOME": "/x", "A": "b"}, Path("/y"))
    assert environ.pop("PYTHONWARNINGS").startswith("ignore:Function `dev_command` is")
    assert environ.pop("AGENTLAKE_UI_PID") == str(os.getpid())
    more = environment(settings, {"PYTHONWARNINGS": "error"}, Path("/y"))
    assert more["PYTHONWARNINGS"].startswith("error,ignore:")
    assert environ == {
        "HOME": "/x",
        "A": "b",
        "AGENTLAKE_HOME": str(fresh.home),
        "AGENTLAKE_WAREHOUSE": str(fresh.warehouse),
        "AGENTLAKE_CONFIG": str(fresh.config),
        "DAGSTER_HOME": "/y",
    }


# Tables


def test_numbers_as_people_read_them():
    assert [usd(cost) for cost in (None, 0, 0.00012, 0.5, 1, 1234.567)] == [
        "-",
        "$0.00",
        "$0.0001",
        "$0.5000",
        "$1.00",
        "$1,234.57",
    ]
    one, two = Decimal("1.25"), Decimal("3.5")
    assert usd(one, two) == "$1.25-3.50"
    assert usd(one, one, partly=True) == ">=$1.25"
    assert usd(one, reported=True) == "$1.25*"
    assert [duration(ms) for ms in (None, 0, 999, 4200, 200_000, 18_420_000)] == [
        "-",
        "0ms",
        "999ms",
        "4.2s",
        "3m 20s",
        "5h 07m",
    ]
    assert [
        size(number) for number in (0, 999, 4_200, 412_000_000, 5_000_000_000_000)
    ] == [
        "0 B",
        "999 B",
        "4.2 kB",
        "412.0 MB",
        "5,000.0 GB",
    ]


def test_sums_of_money_stand_with_their_points_one_below_the_other():
    cells = usd_column(["$1,234.57", "$0.0001", "-", "", ">$2.00"])
    assert cells == ["$1,234.57  ", "$0.0001", "-    ", "", ">$2.00  "]
    assert usd_column(["$1.00", "$2.00"]) == ["$1.00", "$2.00"]


def test_bars_are_drawn_to_scale_where_there_is_room():
    columns = [Column(title="date"), Column(title="cost", right=True)]
    rows = [["11-28", "8"], ["11-28", "4"], ["11-27", "6"], ["11-26", "0"]]
    bars = {0: Decimal(12), 2: Decimal(6), 3: Decimal(0)}
    drawn = render(columns, rows, width=21, bars=bars).splitlines()
    assert drawn == [
        "date   cost",
        "11-28     8  ████████",
        "11-28     4",
        "11-27     6  ████",
        "11-26     0  ",
    ]
    for width in (None, 17):
        assert "█" not in render(columns, rows, width=width, bars=bars)
    assert [bar(Decimal(part), Decimal(100), 2) for part in (0, 1, 50, 55)] == [
        "",
        "▏",
        "█",
        "█▏",
    ]


def test_a_long_text_makes_no_piped_line_endless():
    columns = [Column(title="title", gives_way="end"), Column(title="id")]
    line = render(columns, [["word " * 100, "i" * 80]]).splitlines()[1]
    assert line == f"{('word ' * 12)[:59]}…  {'i' * 80}"


def test_columns_give_way_or_go_before_a_table_is_too_wide():
    columns = [
        Column(title="id"),
        Column(title="path", gives_way="start"),
        Column(title="extra", dropped=1),
    ]
    rows = [["a", "/home/ada/a/long/way/to/the/shop", "nice to have"]]
    assert (
        render(columns, rows, width=60).splitlines()[1]
        == f"a   {'  '.join(rows[0][1:])}"
    )
    assert render(columns, rows, width=40).splitlines()[1] == (
        "a   …/long/way/to/the/shop  nice to have"
    )
    assert render(columns, rows, width=20).splitlines()[1] == "a   …way/to/the/shop"
    assert shorten("字字字字", 5, "end") == "字字…"


# A process of its own


def run(*words, terminal, **more):
    environ = {**os.environ, **terminal.environ}
    return subprocess.run(
        [sys.executable, *words], env=environ, capture_output=True, text=True, **more
    )


def test_a_report_starts_without_what_only_others_need(terminal):
    code = (
        "import sys; from agentlake.pipelines.cli import main\n"
        "for words in (['report', 'daily'], ['load']):\n"
        "    assert main(words) == 0\n"
        "heavy = {'dagster', 'polars', 'pandera', 'pyarrow', 'genai_prices', 'numpy'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = run("-c", code, terminal=terminal)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(("columns", "has_bars"), [(100, True), (60, False)])
def test_a_terminal_shows_a_bar_per_day_and_a_pipe_none(columns, has_bars, terminal):
    ours, theirs = os.openpty()
    terminal.environ |= {"COLUMNS": str(columns), "PYTHONUTF8": "1"}
    words = [sys.executable, "-m", "agentlake", "report", "daily"]
    environ = {**os.environ, **terminal.environ}
    done = subprocess.run(words, env=environ, stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    assert done.returncode == 0
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    plain = re.sub("\x1b\\[[01]m", "", shown)
    assert max(map(len, plain.splitlines())) <= columns
    days = [line for line in shown.splitlines() if line.startswith("2026")]
    assert ["█" in line for line in days] == [False, has_bars, has_bars]
    piped = run("-m", "agentlake", "report", "daily", terminal=terminal)
    assert "█" not in piped.stdout


def test_a_closed_pipe_is_silent(terminal):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "agentlake",
            "sql",
            "from range(100000)",
            "--format",
            "csv",
        ],
        env={**os.environ, **terminal.environ},
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")
