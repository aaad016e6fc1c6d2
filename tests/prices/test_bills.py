"""A vendor's report, whichever it is, stands beside what is on this machine."""

import json
from datetime import date
from decimal import Decimal

import pytest

from agentlake.errors import UserError
from agentlake.fixtures import FIXTURES_DIR
from agentlake.pipelines.cli.app import main
from agentlake.pipelines.prices.bills.vendors import read
from agentlake.pipelines.settings.settings import load_settings
from agentlake.pipelines.sync import sync

HOME = FIXTURES_DIR / "sources" / "claude_code" / "cost_state" / "home"
OPUS, SONNET = "claude-opus-4-8", "claude-sonnet-4-6"


def usage(model, output, fresh=2000):
    return {
        "uncached_input_tokens": fresh,
        "cache_creation": {
            "ephemeral_5m_input_tokens": 0,
            "ephemeral_1h_input_tokens": 0,
        },
        "cache_read_input_tokens": 20 * fresh,
        "output_tokens": output,
        "server_tool_use": {"web_search_requests": 0},
        "model": model,
    }


ANTHROPIC = {
    "data": [
        {
            "starting_at": "2026-11-02T00:00:00Z",
            "ending_at": "2026-11-03T00:00:00Z",
            "results": [
                usage(OPUS, 300),
                usage(SONNET, 500, 1000),
                usage("claude-haiku-4-5-20251001", 40, 0),
            ],
        }
    ],
    "has_more": False,
}
ANTHROPIC_CSV = """\
usage_date_utc,model_version,api_key,usage_type,usage_input_tokens_no_cache,\
usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,\
usage_input_tokens_cache_read,usage_output_tokens,web_search_count
2026-11-02,claude-opus-4-8,k,standard,2000,10,20,40000,300,1
"""
ANTHROPIC_COST = """\
usage_date_utc,model,workspace,api_key,usage_type,context_window,token_type,cost_usd
2026-11-02,Claude Opus 4.8,w,k,message,≤ 200k,output_no_cache,0.0075
2026-11-02,Claude Opus 4.8,w,k,message,≤ 200k,input_no_cache,0.01
"""
ANTHROPIC_COST_JSON = {
    "data": [
        {
            "starting_at": "2026-11-02T00:00:00Z",
            "results": [
                {
                    "currency": "USD",
                    "amount": "123.45",
                    "cost_type": "tokens",
                    "token_type": "output_tokens",
                    "model": OPUS,
                }
            ],
        }
    ]
}
OPENAI = {
    "object": "page",
    "data": [
        {
            "object": "bucket",
            "start_time": 1793577600,
            "end_time": 1793664000,
            "results": [
                {
                    "object": "organization.usage.completions.result",
                    "input_tokens": 1000,
                    "input_cached_tokens": 800,
                    "output_tokens": 500,
                    "num_model_requests": 5,
                    "model": "gpt-5.5-2026-04-23",
                }
            ],
        }
    ],
}
OPENAI_COSTS = """\
start_time,start_time_iso,amount_value,amount_currency,line_item
1793577600,2026-11-02T00:00:00+00:00,0.06,usd,"gpt-5.5-2026-04-23, cached input"
"""
OPENROUTER = {
    "data": [
        {
            "date": "2026-11-02 00:00:00",
            "model": "anthropic/claude-opus-4.8",
            "provider_name": "Anthropic",
            "usage": 0.015,
            "requests": 5,
            "prompt_tokens": 50,
            "completion_tokens": 125,
            "reasoning_tokens": 25,
        }
    ]
}
CURSOR = """\
Date,Kind,Model,Max Mode,Input (w/ Cache Write),Input (w/o Cache Write),Cache Read,\
Output Tokens,Total Tokens,Cost
"2026-11-02T10:00:00.000Z","Included","claude-4.6-opus-high-thinking","No",\
"1,000","200","5000","300","6500","$0.12"
"2026-11-02T11:00:00.000Z","Included","auto","No","0","7","0","8","15","Included"
"""
BILLS = [  # name, content, whose, its lines of the 2nd of November
    (
        "anthropic.csv",
        ANTHROPIC_CSV,
        "anthropic usage report",
        {
            (OPUS, "input"): 2000,
            (OPUS, "cache_read"): 40000,
            (OPUS, "cache_write"): 30,
            (OPUS, "cache_write_1h"): 20,
            (OPUS, "output"): 300,
            (OPUS, "web_search"): 1,
        },
    ),
    (
        "cost.csv",
        ANTHROPIC_COST,
        "anthropic cost report",
        {("Claude Opus 4.8", "cost"): Decimal("0.0175")},
    ),
    (
        "cost.json",
        ANTHROPIC_COST_JSON,
        "anthropic cost report",
        {(OPUS, "cost"): Decimal("1.2345")},
    ),
    (
        "openai.json",
        OPENAI,
        "openai usage",
        {
            ("gpt-5.5-2026-04-23", "input"): 200,
            ("gpt-5.5-2026-04-23", "cache_read"): 800,
            ("gpt-5.5-2026-04-23", "output"): 500,
        },
    ),
    (
        "costs.csv",
        OPENAI_COSTS,
        "openai costs",
        {("gpt-5.5-2026-04-23", "cost"): Decimal("0.06")},
    ),
    (
        "activity.json",
        OPENROUTER,
        "openrouter activity",
        {
            ("anthropic/claude-opus-4.8", "input"): 50,
            ("anthropic/claude-opus-4.8", "output"): 125,
            ("anthropic/claude-opus-4.8", "cost"): Decimal("0.015"),
        },
    ),
    (
        "cursor.csv",
        CURSOR,
        "cursor usage export",
        {
            ("claude-4.6-opus-high-thinking", "input"): 200,
            ("claude-4.6-opus-high-thinking", "cache_write"): 1000,
            ("claude-4.6-opus-high-thinking", "cache_read"): 5000,
            ("claude-4.6-opus-high-thinking", "output"): 300,
            ("claude-4.6-opus-high-thinking", "cost"): Decimal("0.12"),
            ("auto", "input"): 7,
            ("auto", "output"): 8,
        },
    ),
]


def written(folder, name, content):
    path = folder / name
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(("name", "content", "whose", "expected"), BILLS)
def test_a_report_is_known_by_its_fields(name, content, whose, expected, tmp_path):
    bill = read(written(tmp_path, name, content))
    assert f"{bill.seller} {bill.report}" == whose
    found = {}
    for line in bill.lines:
        assert line.day == date(2026, 11, 2)
        key = (line.model, line.kind)
        found[key] = found.get(key, 0) + line.amount
    assert found == expected


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "{", '{"data": []}', "[1]"])
def test_another_file_is_refused_with_what_is_known(content, tmp_path):
    with pytest.raises(UserError, match=r"Known: anthropic|Export it again"):
        read(written(tmp_path, "some.csv", content))


def test_a_bill_stands_beside_what_is_here(tmp_path, capsys):
    environ = {
        "HOME": str(tmp_path),
        "TZ": "UTC",
        "AGENTLAKE_HOME": str(HOME),
        "AGENTLAKE_WAREHOUSE": str(tmp_path / "lake.duckdb"),
    }
    settings = load_settings(
        config=None,
        home=HOME,
        warehouse=tmp_path / "lake.duckdb",
        environ=environ,
        known_sources=("claude_code",),
    )
    sync(settings, environ=environ)
    bill = str(written(tmp_path, "bill.json", ANTHROPIC))
    assert main(["reconcile", "--bill", bill, "--json"], environ) == 0
    found = {
        (one["model"], one["kind"]): one for one in json.loads(capsys.readouterr().out)
    }
    assert found[OPUS, "output"]["because"] == "equal"
    assert found[OPUS, "cache_read"]["because"] == "equal"
    more = found[SONNET, "output"]
    assert (more["local"], more["billed"], more["difference"]) == (300, 500, 200)
    assert "not on disk" in more["because"]
    assert "another machine" in found["claude-haiku-4-5", "output"]["because"]
    assert main(["reconcile", "--bill", bill], environ) == 0
    shown = capsys.readouterr()
    assert "claude-opus-4-8" not in shown.out
    assert "anthropic usage report" in shown.err
