"""Databases that their agent is writing while they are loaded, step by step.

The agent is a process of its own that never checkpoints: what it commits is only in
the log. A step is what it does next, and what has to be known after the next load.
"""

import json
import shutil

import pytest
from support.agent import Agent, looks
from support.cases import CASES
from support.warehouses import rebuilt, same

pytestmark = pytest.mark.slow


def conversation(warp_tokens, credits):
    spent = {
        "credits_spent": credits,
        "token_usage": [{"model_id": "gpt-5", "warp_tokens": warp_tokens}],
    }
    return json.dumps({"conversation_usage_metadata": spent})


def task(*texts):
    """A task whose messages are prompts, as protobuf; all lengths below 128."""

    def field(number, data):
        return bytes([number << 3 | 2, len(data)]) + data

    messages = [
        field(1, f"w{at}".encode()) + field(2, field(1, text.encode()))
        for at, text in enumerate(texts)
    ]
    return (field(1, b"t1") + b"".join(field(5, one) for one in messages)).hex()


def thread(tokens, *prompts):
    messages = [{"User": {"id": it, "content": [{"Text": it}]}} for it in prompts]
    usage = {"input_tokens": tokens, "output_tokens": 1}
    return json.dumps({"messages": messages, "cumulative_token_usage": usage})


SUMS = """
    select sum(input_tokens), sum(cache_read_tokens), sum(output_tokens)
    from core.usage where source = '{source}'
"""
CALLS = """
    select count(*), sum(input_tokens), sum(output_tokens)
    from core.usage where source = '{source}'
"""
AMOUNTS = """
    select unit, round(sum(amount), 6) from core.usage
    where source = '{source}' and session_id = 'live' group by all order by all
"""
SAID = """
    select text, is_gone from core.messages
    where source = '{source}' and starts_with(session_id, 'live') order by seq, text
"""

TAKEN_BACK = "select is_gone from core.messages where text = 'live'"
STEPS = {
    "goose/ledger": [
        (
            """
            insert into sessions (id, name, working_dir, created_at, updated_at)
            values ('20261002_1', 'Live', '/home/ada', '2026-10-02 09:00:00', '');
            insert into messages (
                message_id, session_id, role, content_json, created_timestamp
            ) values
            ('l1', '20261002_1', 'user', '[{"type":"text","text":"one"}]', 1790931600),
            ('l2', '20261002_1', 'user', '[{"type":"text","text":"two"}]', 1790931601);
            insert into usage_ledger (
                session_id, created_timestamp, input_tokens, output_tokens
            ) values ('20261002_1', 1790931602, 10, 1)
            """,
            {CALLS: [(5, 1210, 241)]},
        ),
        (  # a compaction writes all messages anew, under the same ids
            """
            delete from messages where session_id = '20261002_1';
            insert into messages (
                message_id, session_id, role, content_json, created_timestamp,
                metadata_json
            ) values
            ('l2', '20261002_1', 'user', '[{"type":"text","text":"two"}]', 1790931601,
            '{"userVisible":true,"agentVisible":false}'),
            ('l3', '20261002_1', 'user', '[{"type":"text","text":"sum"}]', 1790931603,
            '{"userVisible":false,"agentVisible":true}');
            insert into usage_ledger (
                session_id, created_timestamp, input_tokens, output_tokens,
                is_compaction
            ) values ('20261002_1', 1790931603, 20, 2, 1)
            """,
            {
                CALLS: [(6, 1230, 243)],
                """
                select message_id, kind, is_gone from core.messages
                where source = 'goose' and starts_with(message_id, 'l')
                order by message_id
                """: [
                    ("l1", "prompt", True),
                    ("l2", "prompt", False),
                    ("l3", "meta", False),
                ],
            },
        ),
        (  # the id of the highest session of a day is given again; the last call of
            # the old one is read once more, and no longer says which of the two it was
            """
            delete from messages where session_id = '20261002_1';
            delete from sessions where id = '20261002_1';
            insert into sessions (id, name, working_dir, created_at, updated_at)
            values ('20261002_1', 'Again', '/home/ada', '2026-10-02 10:00:00', '');
            insert into messages (
                message_id, session_id, role, content_json, created_timestamp
            ) values
            ('l4', '20261002_1', 'user', '[{"type":"text","text":"new"}]', 1790935200);
            insert into usage_ledger (
                session_id, created_timestamp, input_tokens, output_tokens
            ) values ('20261002_1', 1790935201, 40, 4)
            """,
            {
                CALLS: [(7, 1270, 247)],
                """
                select usage.session_id, sessions.title, sum(usage.input_tokens)
                from core.usage as usage
                inner join core.sessions as sessions using (source, session_id)
                where source = 'goose' and starts_with(usage.session_id, '20261002')
                group by all order by all
                """: [
                    ("20261002_1", None, 20),
                    ("20261002_1@2026-10-02 09:00:00", "Live", 10),
                    ("20261002_1@2026-10-02 10:00:00", "Again", 40),
                ],
            },
        ),
    ],
    "warp/conversations": [
        (
            f"""
            insert into ai_queries (
                exchange_id, conversation_id, start_ts, input, output_status
            ) values (
                'live-1', 'live', '2026-10-02 09:00:00',
                '[{{"Query":{{"text":"hi"}}}}]', '"Pending"'
            );
            insert into agent_conversations (
                conversation_id, conversation_data, last_modified_at
            ) values ('live', '{conversation(100, 0.5)}', '2026-10-02 09:00:00')
            """,
            {
                AMOUNTS: [("credits", 0.5), ("unsplit_tokens", 100)],
                SAID: [("hi", False)],
            },
        ),
        (  # all within the same second
            f"""
            update ai_queries set output_status = '"Completed"'
            where exchange_id = 'live-1';
            update agent_conversations
            set conversation_data = '{conversation(250, 0.75)}'
            where conversation_id = 'live';
            update agent_conversations set last_modified_at = '2026-10-02 09:00:00'
            where conversation_id = 'live';
            insert into agent_tasks (conversation_id, task_id, task, last_modified_at)
            values ('live', 'live-t', X'{task("hi")}', '2026-10-02 09:00:00')
            """,
            {
                AMOUNTS: [("credits", 0.75), ("unsplit_tokens", 250)],
                SAID: [("hi", False)],
            },
        ),
        (  # summarised, and the total is lower; the task has a message more
            f"""
            update agent_conversations
            set conversation_data = '{conversation(80, 0.8)}',
            last_modified_at = '2026-10-03 09:00:00' where conversation_id = 'live';
            update agent_tasks set task = X'{task("hi", "more")}'
            where task_id = 'live-t'
            """,
            {
                AMOUNTS: [("credits", 0.8), ("unsplit_tokens", 250)],
                SAID: [("hi", False), ("more", False)],
                """
                select cast(usage_date as varchar), unit, round(amount, 6)
                from marts.other_usage
                where source = 'warp'
                and usage_date in ('2026-10-02', '2026-10-03') order by all
                """: [
                    ("2026-10-02", "credits", 0.75),
                    ("2026-10-02", "unsplit_tokens", 250),
                    ("2026-10-03", "credits", 0.05),
                ],
            },
        ),
        (  # the list of conversations is full, and this one is the oldest
            "delete from agent_conversations where conversation_id = 'live'",
            {AMOUNTS: [("credits", 0.8), ("unsplit_tokens", 250)]},
        ),
    ],
    "hermes/children": [
        (  # a turn: messages, then the counters of the session
            """
            insert into messages (session_id, role, content, timestamp)
            values ('p-next', 'user', 'live', 1790845401.5);
            update sessions set input_tokens = 260, output_tokens = 26
            where id = 'p-next'
            """,
            {SUMS: [(1600, 0, 160)]},
        ),
        (  # seconds later the row of the model, which is a part of them
            """
            insert into session_model_usage (
                session_id, model, billing_provider, input_tokens, output_tokens,
                last_seen
            ) values ('p-next', 'gpt-5', 'openai', 250, 25, 1790845402)
            """,
            {SUMS: [(1600, 0, 160)]},
        ),
        (  # both grow; an auxiliary call; a message is taken back
            """
            update session_model_usage set input_tokens = 300, output_tokens = 30
            where session_id = 'p-next';
            update sessions set input_tokens = 310, output_tokens = 31
            where id = 'p-next';
            insert into session_model_usage (
                session_id, model, task, input_tokens, output_tokens, last_seen
            ) values ('p-next', 'gpt-5', 'title_generation', 7, 1, 1790845403);
            update messages set active = 0 where content = 'live'
            """,
            {
                SUMS: [(1657, 0, 166)],
                TAKEN_BACK: [(False,)],
            },
        ),
        (
            """
            delete from messages where session_id = 'p-next';
            delete from session_model_usage where session_id = 'p-next';
            delete from sessions where id = 'p-next'
            """,
            {
                SUMS: [(1657, 0, 166)],
                TAKEN_BACK: [(True,)],
            },
        ),
    ],
    "zed/threads": [
        (
            f"""
            insert into threads (id, summary, updated_at, data_type, data, created_at)
            values (
                'live', 'Live', '2026-10-02T09:00:00Z', 'json',
                cast('{thread(100, "a", "b")}' as blob), '2026-10-02T09:00:00Z'
            )
            """,
            {SUMS: [(580, 908, 99)], SAID: [("a", False), ("b", False)]},
        ),
        (
            f"""
            update threads set updated_at = '2026-10-03T09:00:00Z',
            data = cast('{thread(300, "a", "b", "c")}' as blob) where id = 'live'
            """,
            {
                SUMS: [(780, 908, 99)],
                """
                select cast(usage_date as varchar), sum(input_tokens)
                from marts.daily_usage
                where source = 'zed' and usage_date in ('2026-10-02', '2026-10-03')
                group by all order by all
                """: [("2026-10-02", 100), ("2026-10-03", 200)],
            },
        ),
        (  # an earlier prompt was edited, which cuts off all that followed
            f"""
            update threads set updated_at = '2026-10-03T09:00:01Z',
            data = cast('{thread(20, "a", "d")}' as blob) where id = 'live'
            """,
            {SUMS: [(780, 908, 99)], SAID: [("a", False), ("d", False)]},
        ),
        (
            "delete from threads where id = 'live'",
            {SUMS: [(780, 908, 99)], SAID: [("a", True), ("d", True)]},
        ),
    ],
    "crush/projects": [
        (
            """
            insert into sessions (id, title, cost, updated_at, created_at)
            values ('live', 'Live', 0.1, 1790931600, 1790931600);
            insert into messages (
                id, session_id, role, parts, created_at, updated_at
            ) values (
                'l1', 'live', 'assistant', '[{"type":"text","data":{"text":"so"}}]',
                1790931600, 1790931600
            )
            """,
            {AMOUNTS: [("usd", 0.1)], SAID: [("so", False)]},
        ),
        (  # the reply grows within the same second, and a subagent begins
            """
            update messages set
            parts = '[{"type":"text","data":{"text":"so far"}}]' where id = 'l1';
            insert into sessions (
                id, parent_session_id, title, cost, updated_at, created_at
            ) values ('live-child', 'live', 'Child', 0.04, 1790931600, 1790931600)
            """,
            {
                AMOUNTS: [("usd", 0.1)],
                SAID: [("so far", False)],
            },
        ),
        (  # it has ended: its cost is added to its parent's
            """
            update sessions set cost = 0.05 where id = 'live-child';
            update sessions set cost = 0.17, updated_at = 1791018000 where id = 'live'
            """,
            {
                AMOUNTS: [("usd", 0.12)],
                """
                select round(sum(amount), 6) from core.usage
                where source = 'crush' and starts_with(session_id, 'live')
                """: [(0.17,)],
            },
        ),
    ],
}
NAMES = {
    "goose/ledger": "sessions.db",
    "warp/conversations": "warp.sqlite",
    "hermes/children": "state.db",
    "zed/threads": "threads.db",
    "crush/projects": "shop/.crush/crush.db",
}


def test_each_step_of_writing_agents_is_known_after_the_next_load(new_lake, tmp_path):
    home = tmp_path / "home"
    for case in CASES:
        if case.id in STEPS:
            shutil.copytree(case.home, home, dirs_exist_ok=True)
    databases = {name: next(home.rglob(NAMES[name])) for name in STEPS}
    agents = {name: Agent(database) for name, database in databases.items()}
    lake = new_lake(home)
    lake.load()
    for at in range(max(map(len, STEPS.values()))):
        step = {name: steps[at] for name, steps in STEPS.items() if at < len(steps)}
        for name, (sql, _) in step.items():
            agents[name].does(sql)
        before = looks(home)
        lake.load()
        assert looks(home) == before
        for name, (sql, expected) in step.items():
            for query, rows in expected.items():
                asked = query.format(source=name.partition("/")[0])
                assert lake.rows(asked) == rows, sql
        assert not lake.load(fresh=False).wrote
    step_by_step = lake.all("core", without=("load_id",))
    rebuilt(lake.connection)
    same(step_by_step, lake.all("core", without=("load_id",)))
    for agent in agents.values():
        agent.ends()
