"""The notebook in a real browser: the demo, a year, nothing loaded, no warehouse."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.browser import browser_page
from support.servers import served
from support.terminal import Terminal
from support.warehouses import like

from agentlake.fixtures import FIXTURES_DIR
from agentlake.notebooks import parts

pytestmark = pytest.mark.slow

PATIENCE_MS = 120_000
# What a person would notice: pictures wider than the page, traces, escapes, cut sums.
MEASURED = """() => {
    const canvases = [];
    const text = node => {
        if (["STYLE", "SCRIPT", "TEMPLATE"].includes(node.nodeName)) return "";
        if (node.nodeName === "CANVAS") canvases.push(node.width * node.height);
        if (node.nodeType === Node.TEXT_NODE) return node.data;
        const inside = [...(node.shadowRoot ? node.shadowRoot.childNodes : []),
            ...node.childNodes];
        return inside.map(text).join("") + " ";
    };
    return {
        text: text(document.body),
        canvas: (() => Math.max(0, ...canvases))(),
        over: document.documentElement.scrollWidth - window.innerWidth,
    };
}"""


@pytest.fixture
def opened(tmp_path):
    """Opens the notebook on a warehouse; ends with the test."""

    def look(warehouse, until, then=lambda _page: None):
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        with (
            served(tmp_path, home, warehouse, "notebook") as url,
            browser_page() as page,
        ):
            page.goto(url)
            page.wait_for_selector(f"text={until}", timeout=PATIENCE_MS)
            then(page)
            seen = page.evaluate(MEASURED)
        assert seen["over"] <= 0
        assert seen["canvas"] < 2_000_000
        for trouble in ("Traceback", "\\u2003", "NaN", "undefined", "nan%"):
            assert trouble not in seen["text"]
        return seen

    return look


@pytest.fixture
def demo(tmp_path, capsys):
    """The demo's warehouse."""
    terminal = Terminal(tmp_path.resolve(), capsys)
    terminal.home = Path(FIXTURES_DIR) / "demo/home"
    terminal.environ["HOME"] = str(terminal.home)
    assert terminal("load", "--quiet") == 0
    return terminal.warehouse


def test_the_demo_has_its_numbers_first_and_a_session_opens(opened, demo):
    def choose(page):
        page.wait_for_selector("text=$3.34", timeout=PATIENCE_MS)  # all by Haiku
        page.locator("[role=checkbox], input[type=checkbox]").first.click()
        page.wait_for_selector("text=assistant", timeout=PATIENCE_MS)

    text = opened(demo, "What if", choose)["text"]
    assert text.index("$13.58") < text.index("5-hour windows")
    assert "9,048,027" in text
    assert "Why was there no frost warning last night?" in text
    assert "subagents" in text


def year(home, sessions=360):
    """A call every day of a year."""
    began = datetime(2025, 12, 1, 9, tzinfo=UTC)
    for number in range(sessions):
        at = (began + timedelta(days=number)).isoformat()
        usage = {"input_tokens": 1000 + number, "output_tokens": 100}
        message = {
            "id": f"m{number}",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": [{"type": "text", "text": "done"}],
            "usage": usage,
        }
        line = {
            "type": "assistant",
            "uuid": f"u{number}",
            "requestId": f"r{number}",
            "sessionId": f"s{number}",
            "timestamp": at,
            "cwd": f"/home/ada/p{number % 14}",
            "message": message,
        }
        file = home / f".claude/projects/p/s{number}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(line) + "\n")


def test_a_year_is_shown_by_its_last_days_and_then_whole(opened, fresh):
    year(fresh.home)
    assert fresh("load", "--quiet") == 0

    def everything(page):
        page.locator("select").first.select_option(label="everything")
        page.wait_for_selector("text=360", timeout=PATIENCE_MS)

    text = opened(fresh.warehouse, "What if", everything)["text"]
    assert "none in the span before" in text


def test_nothing_to_show_says_what_to_do(opened, tmp_path, empty_warehouse):
    like(empty_warehouse, tmp_path / "empty.duckdb")
    text = opened(tmp_path / "empty.duckdb", "No call of a model yet")["text"]
    assert "agentlake doctor" in text
    assert "What if" not in text
    text = opened(tmp_path / "none.duckdb", "There is nothing to show yet")["text"]
    assert "agentlake demo" in text
    assert "What if" not in text


def test_no_bar_is_a_hairline():
    first = datetime(2025, 12, 1, tzinfo=UTC).date()
    days = {10: "day", 62: "day", 63: "week", 365: "week", 1000: "month"}
    for length, unit in days.items():
        assert parts.unit_of(first, first + timedelta(days=length - 1)) == unit


def test_what_messages_say_is_no_part_of_the_page():
    said = {"role": "user", "sent_at": None, "text": "<script>alert(1)</script>"}
    assert "<script>" not in parts.transcript([said])
    assert "10 more characters" in parts.transcript([said | {"text": "x" * 2010}])
