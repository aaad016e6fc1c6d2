"""OpenClaw, rule by rule: which files are transcripts, who speaks, and odd rows."""

import base64
import itertools
import json

import pytest
from backports import zstd

from agentlake.adapters import openclaw
from agentlake.adapters.openclaw import prompts
from agentlake.adapters.sdk.contract import Record, Stream
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.sdk.run import facts_of

ABOUT = 'Sender (untrusted metadata):\n```json\n{"label": "Ada"}\n```\n\n'
TALK = 'Conversation info (untrusted metadata):\n```json\n{"sender":"Bo"}\n```\n\n'
NEW = "Sender: ⟦openclaw:ctx⟧\n```json\n{}\n```\n\nContext: ⟦openclaw:ctx⟧\nold\n\n"
EVENT = "System: [2026-01-05 16:26:34] Disk is full.\n"


@pytest.mark.parametrize(
    ("text", "left", "kind", "label"),
    [
        ("hello", "hello", "prompt", None),
        (
            "[WhatsApp +1555 Mon 2026-01-05 16:26:34 PST] hi",
            "hi",
            "prompt",
            "[WA] +1555",
        ),
        ("[WhatsApp Mon 2026-01-05 16:26 PST] hi", "hi", "prompt", "[WA]"),
        ("[Telegram Ada id:7 2026-01-05T16:26Z] hi", "hi", "prompt", "[TG] Ada"),
        ("[Telegram Ada (@a) id:7 +2h] hi", "hi", "prompt", "[TG] Ada"),
        ("[Google Chat Ada 2026-01-05 16:26] hi", "hi", "prompt", "[Google Chat] Ada"),
        ("[WebChat Ada mac 10.0.0.5] hi", "hi", "prompt", "[WebChat] Ada"),
        ("[Discord Guild #general] Ada: hi", "hi", "prompt", "[Discord] Ada"),
        ("[Signal Home Group id:1] Ada (42): hi", "hi", "prompt", "[Signal] Ada"),
        ("[Slack Ada] note: hi", "note: hi", "prompt", "[Slack] Ada"),
        ("[WhatsApp 1@g.us] hi\n[from: Ada (+1)]", "hi", "prompt", "[WA] Ada"),
        ("[Matrix] hi", "hi", "prompt", "[Matrix]"),
        ("hi\n[slack message id: 7 channel: C1]", "hi", "prompt", None),
        ("[message_id: 7]\nhi", "hi", "prompt", None),
        ("hi\n\nContext: ⟦openclaw:ctx⟧\nold", "hi", "prompt", None),
        ("[Wed 2026-02-18 11:21 GMT+1] hi", "hi", "prompt", None),
        (f"{ABOUT}[Wed 2026-02-18 11:21 GMT+1] hi", "hi", "prompt", "Ada"),
        (f"{TALK}hi", "hi", "prompt", "Bo"),
        (f"{NEW}hi", "hi", "prompt", None),
        (f"{EVENT}\nhi", "hi", "prompt", "[sys]"),
        (f"{EVENT}{EVENT}", "Disk is full.\nDisk is full.", "meta", "[sys]"),
        (f"{EVENT}\n[Slack Ada 2026-01-05 16:26] hi", "hi", "prompt", "[Slack] Ada"),
        (
            "[cron:7f Morning report] sum up",
            "sum up",
            "command",
            "[cron] Morning report",
        ),
        ("[cron:7f] sum up", "sum up", "command", "[cron]"),
        ("[cron:7f ] sum up", "sum up", "command", "[cron]"),
        ("[cron:] sum up", "sum up", "command", "[cron]"),
        ("[cron:7f sum up", "sum up", "command", "[cron]"),
        ("[Subagent Context] find it", "find it", "meta", "subagent"),
        ("[Inter-session message] thanks", "thanks", "meta", "session"),
        ("Read HEARTBEAT.md now", "Read HEARTBEAT.md now", "meta", "heartbeat"),
        ("[note] keep", "[note] keep", "prompt", None),
        ("[WhatsApp is down] help", "[WhatsApp is down] help", "prompt", None),
        ("The System: it works", "The System: it works", "prompt", None),
        ("", "", "prompt", None),
    ],
)
def test_what_stands_before_a_text_is_its_label(text, left, kind, label):
    said = prompts.said(text)
    assert (said.text, said.kind, said.label) == (left, kind, label)


def test_a_job_has_its_name_or_its_id():
    assert prompts.said("[cron:7f Morning report] x").job == "Morning report"
    assert prompts.said("[cron:7f] x").job == "7f"
    assert prompts.said("[cron:] x").job is None


def test_a_session_of_a_schedule_is_called_after_its_job_or_what_it_does():
    assert prompts.said("[cron:7f Morning report] x").title == "Morning report"
    assert prompts.said("[cron:7f] sum up\nall").title == "sum up"


@pytest.mark.parametrize(
    ("text", "category", "channel"),
    [
        ("hi", "interactive", "direct"),
        ("[Google Chat Ada] hi", "interactive", "googlechat"),
        ("System: [2026-01-05] WhatsApp gateway connected.", "interactive", "whatsapp"),
        ("System: WhatsApp gateway connected.\n\nhi", "interactive", "whatsapp"),
        ("System: the WhatsApp log is full", "system", None),
        ("[cron:7f] x", "cron", None),
        ("[Subagent Context] x", None, None),
    ],
)
def test_a_text_says_what_its_session_is_for(text, category, channel):
    said = prompts.said(text)
    assert (said.category, said.channel) == (category, channel)


def test_what_stood_around_a_text_is_kept_beside_it():
    media = "[media attached: /a.png (image/png)]\nTo send an image back, say so.\n"
    said = prompts.said(f"{media}[Signal Ada] look")
    assert (said.text, said.label) == ("look", "[Signal] Ada")
    assert said.around == media.strip()
    talk = "[Chat messages since your last reply - for context]\n[Signal Bo] x\n\n"
    said = prompts.said(f"{talk}[Current message - respond to this]\n[Signal Ada] look")
    assert (said.text, said.label) == ("look", "[Signal] Ada")


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("agent:main:main", (None, None, None)),
        ("agent:main:telegram:direct:42", ("interactive", "telegram", None)),
        ("agent:main:whatsapp:dm:+1555", ("interactive", "whatsapp", None)),
        ("agent:main:discord:group:9", ("interactive", "discord", None)),
        ("agent:main:slack:work:channel:c1", ("interactive", "slack", None)),
        ("agent:main:direct:42", ("interactive", "direct", None)),
        ("agent:main:cron:7f", ("cron", None, None)),
        ("agent:main:subagent:5d", (None, None, "subagent")),
        ("agent:main:main:heartbeat", ("system", None, None)),
        ("hook:5d", ("automated", "hook", None)),
        ("", (None, None, None)),
    ],
)
def test_the_key_of_a_session_says_what_it_is_for(key, place):
    assert prompts.place(key) == place


@pytest.mark.parametrize(
    ("name", "session"),
    [
        ("a1.jsonl", "a1"),
        ("a1-topic-7.jsonl", "a1-topic-7"),
        ("a1.jsonl.deleted.2026-04-02T10-00-00.000Z", "a1"),
        ("a1.jsonl.reset.2026-04-02T10-00-00.000Z.zst", "a1"),
        ("a1.jsonl.zst", "a1"),
        ("a1.full.bak", "a1"),
        ("a1.jsonl.full.bak", "a1"),
        ("a1.jsonl.bak-77-1774", "a1"),
        ("a1.checkpoint.3.jsonl", "a1"),
        ("a1.trajectory.jsonl", None),
        ("sessions.json", None),
        ("a1.jsonl.lock", None),
    ],
)
def test_a_transcript_is_its_session_however_it_is_archived(name, session):
    assert openclaw.session_of(name) == session


def test_the_live_file_has_the_name_and_only_known_files_are_read(tmp_path):
    names = ("sessions/a1.jsonl", "sessions/a1.jsonl.reset.1", "sessions/b2.jsonl.zst")
    more = ("sessions/sessions.json", "agent/openclaw-agent.sqlite", "agent/auth.json")
    for name in (*names, *more, "sessions/a1.jsonl.lock"):
        file = tmp_path / "agents/main" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    streams = list(openclaw.discover(str(tmp_path), {}))
    keys = [stream.key.replace(f"{tmp_path}/agents/", "") for stream in streams]
    database, index = "main/agent/openclaw-agent.sqlite", "main/sessions/sessions.json"
    assert keys == [database, "main/a1", "main/a1.jsonl.reset.1", "main/b2", index]
    assert [one.reader for one in streams][::4] == ["sqlite", "json_document"]


def test_an_index_entry_keeps_what_does_not_change_with_every_turn():
    stream = Stream(path="sessions.json", key="x", reader="json_document")
    entry = {"sessionId": "a1", "label": "Home", "totalTokens": 9, "updatedAt": 1}
    index = {"agent:main:main": entry, "odd": 5, "none": {}}
    (one,) = openclaw.explode(stream, json.dumps(index).encode())
    assert one.key == "agent:main:main/a1"
    kept = {"key": "agent:main:main", "sessionId": "a1", "label": "Home"}
    assert json.loads(one.data) == kept
    for half in (b'{"agent', b"[]"):
        with pytest.raises(Unreadable):
            list(openclaw.explode(stream, half))


def row(table, **columns):
    stream = Stream(path="o.sqlite", key="o", reader="sqlite")
    data = json.dumps(columns).encode()
    return facts_of(openclaw, Record(stream, 0, 0, f"{table}/k", data))


MIRROR = {"role": "assistant", "content": "hi", "usage": {"input": 5, "output": 5}}


@pytest.mark.parametrize(
    "by",
    [
        {"provider": "openclaw", "model": "x"},
        {"provider": "openai", "model": "delivery-mirror"},
        {"model": "gateway-injected"},
    ],
)
def test_a_mirrored_message_is_no_call(by):
    event = {"type": "message", "id": "1", "message": MIRROR | by}
    facts, _ = row("transcript_events", session_id="a1", event_json=json.dumps(event))
    assert [type(fact).__name__ for fact in facts] == ["Message", "Block"]
    assert facts[0].kind == "meta"


PACKED = base64.b64encode(zstd.compress(b'{"type":"label","id":"1"}\n{"type'))
ODD = [None, 5, "", "a1", '{"type":"label"}', "[]", "zstd", [], {"$blob": "no"}]
ODD += [{"$blob": None}, {"$blob": "AA=="}, {"$blob": PACKED.decode()}]
COLUMNS = ["session_id", "event_json", "event_zstd", "archive_blob", "encoding"]
COLUMNS += ["entry_json", "session_key", "current_session_id"]
ROWS = ("transcript_events", "session_transcript_archives", "session_nodes")


@pytest.mark.parametrize("table", ROWS)
def test_an_odd_row_is_facts_or_rejects_and_never_a_crash(table):
    for column, odd in itertools.product(COLUMNS, ODD):
        for encoding in ("zstd", "identity"):
            whole = {"session_id": "a1", "encoding": encoding}
            _, rejects = row(table, **whole | {column: odd})
            assert not any("in parse" in reject.reason for reject in rejects)
