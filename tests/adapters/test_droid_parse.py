"""Factory Droid, what no single look at its files shows: totals that move."""

import json
from pathlib import Path

import pytest

from agentlake.adapters import droid
from agentlake.adapters.sdk.contract import Record, Stream
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.sdk.run import facts_of
from agentlake.models.usage import Usage

NAME = "11111111-0000-4000-8000-000000000001"


def seen(lake, day, **tokens):
    """A message is written on that day, the total beside it, and both are loaded."""
    folder = lake.home / ".factory/sessions/-home-ada-shop"
    folder.mkdir(parents=True, exist_ok=True)
    message = {"role": "user", "content": f"day {day}"}
    at = f"2026-05-{day:02}T10:00:00Z"
    line = {"type": "message", "id": f"d{day}", "timestamp": at, "message": message}
    with (folder / f"{NAME}.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    settings = {
        "model": "gpt-5",
        "providerLockTimestamp": "2026-05-01T09:00:00Z",
        "tokenUsage": tokens,
    }
    (folder / f"{NAME}.settings.json").write_text(json.dumps(settings))
    lake.load()


def steps(lake):
    return lake.rows(
        """
        select cast(timezone('UTC', called_at) as date)::varchar, input_tokens
        from core.usage_steps order by all
        """
    )


@pytest.mark.slow
def test_a_total_counts_on_the_day_on_which_it_was_seen_to_have_grown(
    lake, monkeypatch
):
    seen(lake, 1, inputTokens=100, outputTokens=10)
    seen(lake, 2, inputTokens=250, outputTokens=30)
    seen(lake, 3, inputTokens=40, outputTokens=4)
    days = [("2026-05-01", 100), ("2026-05-02", 150), ("2026-05-03", 40)]
    assert steps(lake) == days
    assert lake.rows("select input_tokens, output_tokens from core.usage") == [
        (290, 34)
    ]
    monkeypatch.setattr(droid, "PARSER_VERSION", 99)
    lake.load()
    assert steps(lake) == days


def usage(**settings):
    stream = Stream(path=f"/x/{NAME}.settings.json", key="k", reader="own")
    data = json.dumps({"settings": settings, "newest_message_at": None}).encode()
    found, _ = facts_of(droid, Record(stream, 0, 0, "settings", data))
    return next((one for one in found if isinstance(one, Usage)), None)


@pytest.mark.parametrize(
    ("written", "model"),
    [
        ("custom:Claude-Sonnet-4.5-[Anthropic]-0", "claude-sonnet-4.5"),
        ("Claude-Opus-4-[Anthropic]", "claude-opus-4"),
        ("custom:gpt-5-codex", "gpt-5-codex"),
        ("custom:Kimi-K3-(free)-0", "kimi-k3"),
        ("custom:Claude-Sonnet-4.5-0", "claude-sonnet-4.5"),
        ("Claude Opus 4.5 Thinking [Anthropic]", "claude-opus-4.5"),
        ("Claude-Opus-4.5-High ", "claude-opus-4.5"),
        ("GPT-5.2 (xhigh)", "gpt-5.2"),
        ("gpt-5.1-codex-max-xhigh", "gpt-5.1-codex-max"),
        ("Kimi K2 Thinking", "kimi-k2-thinking"),
        (" ", "anthropic-unknown"),
        ("claude-opus-4-1-20250805", "claude-opus-4-1-20250805"),
        (None, "anthropic-unknown"),
    ],
)
def test_a_model_is_named_without_what_droid_adds(written, model):
    tokens = {"inputTokens": 1}
    found = usage(model=written, providerLock="anthropic", tokenUsage=tokens)
    assert found.model == model


def test_no_tokens_are_no_usage():
    assert usage(tokenUsage={"inputTokens": 0, "totalTokens": 0}) is None
    assert usage(model="gpt-5") is None


def test_without_a_transcript_the_lock_dates_the_total():
    found = usage(
        providerLockTimestamp="2026-05-01T09:00:00Z", tokenUsage={"outputTokens": 1}
    )
    assert found.called_at.isoformat() == "2026-05-01T09:00:00+00:00"


def test_half_written_settings_wait(tmp_path):
    file = Path(tmp_path, "x.settings.json")
    file.write_text('{"model": "gp')
    stream = Stream(path=str(file), key="k", reader="own")
    with pytest.raises(Unreadable):
        list(droid.read(stream, None, {}))
