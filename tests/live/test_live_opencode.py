"""OpenCode's family while its agents write: in steps, and faster than one can load.

All that is written lies only in the log; what a load has seen may be deleted.
"""

import json
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.agent import Agent, looks
from support.cases import CASES, copied
from support.warehouses import rebuilt, same

pytestmark = pytest.mark.slow

WRITER = Path(__file__).with_name("opencode_writer.py")
SECONDS = 2

AT = 1_790_010_000_000


def reply(at, tokens=(0, 0), *, is_done=True, **more):
    data = {"role": "assistant", "agent": "build", "modelID": "gpt-5", "cost": 0}
    data |= {"providerID": "openai", "time": {"created": AT + at}}
    data["tokens"] = {"input": tokens[0], "output": tokens[1], "reasoning": 0}
    if is_done:
        data["time"]["completed"] = AT + at + 50
    return json.dumps(data | more)


def step(*tokens):
    counts = {"input": tokens[0], "output": tokens[1], "reasoning": 0}
    return json.dumps({"type": "step-finish", "reason": "stop", "tokens": counts})


def tool(status, **more):
    state = {"status": status, "input": {"command": "ls"}} | more
    part = {"type": "tool", "callID": "live-call", "tool": "bash", "state": state}
    return json.dumps(part)


def message(id_, session, at, data):
    return (
        "insert into message (id, session_id, time_created, time_updated, data)"
        f" values ('{id_}', '{session}', {AT + at}, {AT + at}, '{data}');"
    )


def part(id_, message_id, session, data, at=100):
    return (
        "insert into part (id, message_id, session_id, time_created, time_updated,"
        f" data) values ('{id_}', '{message_id}', '{session}', {AT + at}, {AT + at},"
        f" '{data}');"
    )


def session(table, id_, at, title, **more):
    names = "".join(f", {name}" for name in more)
    values = "".join(f", '{value}'" for value in more.values())
    return (
        f"insert into {table} (id, project_id, slug, directory, title, version,"
        f" time_created, time_updated{names}) values ('{id_}', 'prj_shop', '{id_}',"
        f" '/home/ada', '{title}', '1.18.34', {AT + at}, {AT + at}{values});"
    )


def row(id_, session_id, seq, at, data):
    return (
        "insert into session_message (id, session_id, type, seq, time_created,"
        f" time_updated, data) values ('{id_}', '{session_id}', 'assistant', {seq},"
        f" {AT + at}, {AT + at}, '{data}');"
    )


SPENT = """
    select session_id, count(*), sum(input_tokens), sum(output_tokens)
    from core.usage where starts_with(session_id, 'live') group by all order by all
"""
TOOLS = "select session_id, status from core.tool_calls where name = 'bash'"
TEXTS = """
    select message_id, text, is_copied, is_gone from core.messages
    where session_id = 'live' order by seq
"""
FORKED = """
    select session_id, relation, parent_session_id from core.sessions
    where starts_with(session_id, 'live') order by all
"""
STEPS = {
    "opencode/reasoning": [
        (  # a reply begins: all of it is empty
            session("session", "live", 0, "Live")
            + message("l1", "live", 100, reply(100, is_done=False))
            + part("l1a", "l1", "live", '{"type":"text","text":""}')
            + part("l1b", "l1", "live", tool("running")),
            {SPENT: [], TOOLS: [("live", "no_result")]},
        ),
        (  # it ends, in the same rows
            f"""
            update part set data = '{{"type":"text","text":"two"}}',
            time_updated = time_updated + 9 where id = 'l1a';
            update part set data = '{tool("completed", output="door")}',
            time_updated = time_updated + 9 where id = 'l1b';
            {part("l1c", "l1", "live", step(10, 1))}
            update message set data = '{reply(100, (10, 1))}',
            time_updated = time_updated + 9 where id = 'l1'
            """,
            {
                SPENT: [("live", 1, 10, 1)],
                TOOLS: [("live", "done")],
                TEXTS: [("l1", "two", False, False)],
            },
        ),
        (  # a step more: it does not touch the row of its message
            part("l1d", "l1", "live", step(20, 2), at=200)
            + part("l1e", "l1", "live", '{"type":"text","text":"three"}', at=210),
            {SPENT: [("live", 2, 30, 3)]},
        ),
        (  # a part that changes stays where it is
            f"""
            update part set data = '{tool("completed", output="a door")}',
            time_updated = time_updated + 99 where id = 'l1b'
            """,
            {
                """
                select type, text from core.blocks
                where message_id = 'l1' order by block_index
                """: [
                    ("text", "two"),
                    ("tool_use", None),
                    ("tool_result", None),
                    ("text", "three"),
                ]
            },
        ),
        (  # a fork, which goes on by itself
            session("session", "live-fork", 1000, "Live (fork #1)")
            + message("f1", "live-fork", 100, reply(100, (10, 1)))
            + part("f1a", "f1", "live-fork", '{"type":"text","text":"two"}', 1000)
            + part("f1b", "f1", "live-fork", tool("completed", output="door"), 1000)
            + part("f1c", "f1", "live-fork", step(10, 1), 1000)
            + part("f1d", "f1", "live-fork", step(20, 2), 1000)
            + message("f2", "live-fork", 2000, reply(2000, (40, 4))),
            {
                SPENT: [("live", 2, 30, 3), ("live-fork", 1, 40, 4)],
                TOOLS: [("live", "done")],
                FORKED: [("live", "main", None), ("live-fork", "fork", "live")],
            },
        ),
        (  # what was reverted was paid for
            "delete from part where message_id = 'l1';"
            "delete from message where id = 'l1'",
            {
                SPENT: [("live", 2, 30, 3), ("live-fork", 1, 40, 4)],
                TEXTS: [("l1", "two\n\nthree", False, True)],
            },
        ),
        (
            "delete from part where session_id = 'live-fork';"
            "delete from message where session_id = 'live-fork';"
            "delete from session where id in ('live', 'live-fork')",
            {SPENT: [("live", 2, 30, 3), ("live-fork", 1, 40, 4)]},
        ),
    ],
    "opencode/second": [
        (
            session("session_v2", "live", 0, "Live", tokens_input=5, tokens_output=1)
            + row("l1", "live", 1, 100, reply(100, (3, 3), is_done=False)),
            # what the session has counted before its row shows it
            {SPENT: [("live", 1, 5, 1)]},
        ),
        (
            f"""
            update session_message set data = '{reply(100, (10, 1))}',
            time_updated = time_updated + 9 where id = 'l1';
            update session_v2 set tokens_input = 15, tokens_output = 2
            where id = 'live'
            """,
            {SPENT: [("live", 2, 15, 2)]},
        ),
        (  # that rest was a title, as is recorded a moment later
            """
            insert into event_sequence (aggregate_id, seq) values ('live', 1);
            insert into event (id, aggregate_id, seq, type, data, created) values (
                'live-e', 'live', 1, 'session.usage.recorded.1',
                '{"source":"title","tokens":{"input":5,"output":1}}', 1790010000200
            )
            """,
            {SPENT: [("live", 2, 15, 2)]},
        ),
        (  # tried again, in the same row; then forked
            f"""
            update session_message set data = '{reply(100, (12, 3))}',
            time_updated = time_updated + 9 where id = 'l1';
            {session("session_v2", "live-f", 1000, "Live", fork_session_id="live")}
            {row("l1_1", "live-f", 1, 100, reply(100, (12, 3)))}
            {row("f2", "live-f", 2, 2000, reply(2000, (40, 4)))}
            """,
            {
                SPENT: [("live", 2, 17, 4), ("live-f", 1, 40, 4)],
                FORKED: [("live", "main", None), ("live-f", "fork", "live")],
            },
        ),
        (
            "delete from session_message where session_id = 'live';"
            "delete from event where aggregate_id = 'live';"
            "delete from session_v2 where id = 'live'",
            {
                SPENT: [("live", 2, 17, 4), ("live-f", 1, 40, 4)],
                "select is_gone from core.messages where session_id = 'live'": [
                    (True,)
                ],
            },
        ),
    ],
}


@pytest.mark.parametrize("name", STEPS)
def test_each_step_of_opencode_is_known_after_the_next_load(name, new_lake, tmp_path):
    (case,) = (one for one in CASES if one.id == name)
    home = copied(case, tmp_path / "live")
    agent, lake = Agent(next(home.rglob("opencode.db"))), new_lake(home)
    lake.load()
    for sql, expected in STEPS[name]:
        agent.does(sql)
        before = looks(home)
        lake.load()
        assert looks(home) == before
        for query, rows in expected.items():
            assert lake.rows(query) == rows, sql
        assert not lake.load(fresh=False).wrote
    by_steps = lake.all("core", without=("load_id",))
    rebuilt(lake.connection)
    same(by_steps, lake.all("core", without=("load_id",)))
    agent.ends()


DIALECTS = {
    "opencode": ("v1", "opencode/steps", "opencode.db"),
    "opencode 2.0": ("v2", "opencode/second", "opencode.db"),
    "kilo_cli": ("v1", "kilo_cli/steps", "kilo.db"),
    "zcode": ("zcode", "zcode/ledger", "db.sqlite"),
}
TOTALS = """
    select session_id, count(*), sum(input_tokens), sum(output_tokens),
        sum(cache_read_tokens)
    from core.usage group by all order by all
"""


@pytest.mark.parametrize("name", DIALECTS)
def test_loads_while_an_agent_writes_miss_and_double_nothing(name, new_lake, tmp_path):
    dialect, case_id, file = DIALECTS[name]
    (case,) = (one for one in CASES if one.id == case_id)
    home = tmp_path / "live"
    database = emptied(case, home, file)
    writer = subprocess.Popen(
        [sys.executable, "-IS", WRITER, database, dialect, "7"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def tell(word):
        print(word, file=writer.stdin, flush=True)
        return json.loads(writer.stdout.readline())

    try:
        lake = new_lake(home)
        end, loads = time.monotonic() + SECONDS, 0
        while loads < 3 or time.monotonic() < end:
            tell("mark")
            report = lake.load(fresh=loads % 2)
            if report.complete:
                tell("loaded")
            loads += 1
        spent = tell("rest")
        before = looks(home)
        assert Path(f"{database}-wal").stat().st_size > 100_000
        lake.load()
        assert looks(home) == before
        expected = sorted((one, *totals) for one, totals in spent.items())
        assert lake.rows(TOTALS) == expected
        assert lake.one("select count(*) from core.messages where is_copied") > 0
        assert lake.one("select count(*) from meta.rejects") == 0
        by_loads = lake.all("core", without=("load_id",))
        rebuilt(lake.connection)
        same(by_loads, lake.all("core", without=("load_id",)))
    finally:
        writer.kill()
        writer.communicate()


def emptied(case, home, file):
    """The case's database, its tables empty; without what else is in the home."""
    (path,) = (one for one in case.home.rglob(file))
    made = home / path.relative_to(case.home)
    made.parent.mkdir(parents=True)
    with sqlite3.connect(path) as full, sqlite3.connect(made) as database:
        for name, sql in full.execute(
            "select name, sql from sqlite_master where sql is not null"
        ).fetchall():
            if not name.startswith("sqlite_"):
                database.execute(sql)
    full.close()
    database.close()
    return made
