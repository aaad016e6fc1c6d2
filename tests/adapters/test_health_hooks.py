"""What agents' settings do to their history, as `doctor` tells it."""

import json

import pytest

from agentlake.adapters.registry import adapters
from agentlake.adapters.sdk.settings import days, said_in


def gemini(**retention):
    settings = {"general": {"sessionRetention": retention}}
    return {"tmp/shop/logs.json": "[]", "settings.json": json.dumps(settings)}


@pytest.mark.parametrize(
    ("source", "files", "expected"),
    [
        # days until it deletes, a word of the warning, a word of the note
        ("amp", {}, (None, None, None)),
        ("amp", {"threads/T-1.json": "{}"}, (None, None, "on its server")),
        ("claude_code", {"projects/a/b.jsonl": ""}, (30, None, None)),
        ("claude_code", {"__store.db": "x"}, (None, "a version 0.2", None)),
        ("codex", {}, (None, None, None)),
        ("codex", {"config.toml": 'model = "gpt-5.3"'}, (None, None, None)),
        (
            "codex",
            {"config.toml": '[history]\npersistence = "none"'},
            (None, None, "history.persistence"),
        ),
        (
            "codex",
            {"config.toml": 'sqlite_home = "/var/ada"'},
            (None, None, "CODEX_SQLITE_HOME"),
        ),
        ("codex", {"config.toml": "= no toml"}, (None, None, None)),
        ("gemini_cli", {}, (None, None, None)),
        ("gemini_cli", {"tmp/shop/logs.json": "[]"}, (30, None, None)),
        ("gemini_cli", gemini(enabled=False), (None, None, None)),
        ("gemini_cli", gemini(enabled=True, maxAge="2w"), (14, None, None)),
        ("gemini_cli", gemini(maxAge="for ever"), (30, None, None)),
        ("gemini_cli", gemini(maxCount=50), (30, "last 50 chats", None)),
        ("gemini_cli", gemini() | {"settings.json": "[1"}, (30, None, None)),
        ("kiro", {}, (None, None, None)),
        ("kiro", {"data.sqlite3": ""}, (None, None, "one per directory")),
        ("mistral_vibe", {}, (None, None, None)),
        (
            "mistral_vibe",
            {"config.toml": "[session_logging]\nenabled = true"},
            (None, None, None),
        ),
        (
            "mistral_vibe",
            {"config.toml": "[session_logging]\nenabled = false"},
            (None, "session_logging.enabled", None),
        ),
        ("qwen_code", {"settings.json": "{}"}, (None, None, None)),
        (
            "qwen_code",
            {"settings.json": '{"general": {"chatRecording": false}}'},
            (None, "general.chatRecording", None),
        ),
        ("warp", {}, (None, None, "200 conversations")),
        ("zcode", {}, (30, None, None)),
    ],
)
def test_an_adapter_tells_what_happens_to_history(tmp_path, source, files, expected):
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    told = adapters()[source].health(str(tmp_path))
    after_days, *words = expected
    assert told.deleted_after_days == after_days
    for word, said in zip(words, (told.warnings, told.notes), strict=True):
        assert len(said) == (word is not None)
        assert word is None or word in said[0]


def test_a_home_that_is_not_there_is_no_trouble(tmp_path):
    for adapter in adapters().values():
        if tell := getattr(adapter, "health", None):
            assert tell(str(tmp_path / "nowhere")).warnings == ()


@pytest.mark.parametrize(
    ("period", "whole"),
    [
        ("30d", 30),
        ("24h", 1),
        ("12h", 0),
        ("2w", 14),
        ("1m", 30),
        ("d", None),
        (7, None),
    ],
)
def test_a_period_is_whole_days(period, whole):
    assert days(period) == whole


def test_a_file_that_is_no_settings_says_nothing(tmp_path):
    file = tmp_path / "settings.json"
    file.write_bytes(b'{"general": ["\xff"]}')
    assert said_in(file, "general", "chatRecording") is None
    assert said_in(tmp_path, "general") is None
