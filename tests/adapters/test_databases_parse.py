"""Rows of Crush, Goose, Hermes, Warp and Zed, where golden cases do not show it."""

import base64
import json

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st
from support.cases import CASES, plans
from support.damage import are_facts_or_rejects, spoiled

from agentlake.adapters.registry import adapters
from agentlake.adapters.sdk.conformance import everything, streams_of
from agentlake.adapters.sdk.contract import Record, Stream
from agentlake.adapters.sdk.run import facts_of
from agentlake.adapters.zed import document
from agentlake.models.session import Session
from agentlake.models.usage import Usage

SOURCES = ("crush", "goose", "hermes", "warp", "zed")


def read(source, key, row):
    stream = Stream(path="/home/ada/shop/.crush/x.db", key="x.db", reader="sqlite")
    data = json.dumps(row).encode()
    return facts_of(adapters()[source], Record(stream, 1, 0, key, data))


def only(kind, source, key, row):
    facts, rejects = read(source, key, row)
    assert rejects == []
    (fact,) = (one for one in facts if type(one) is kind)
    return fact


def golden_rows():
    """Every row of the golden cases, with JSON in texts taken apart."""
    for case in CASES:
        for plan in plans(case.home) if case.source in SOURCES else ():
            for root in plan.roots:
                found = everything(plan.adapter, streams_of(plan.adapter, root))
                for record, _, rejects in found:
                    if record.stream.reader == "sqlite" and not rejects:
                        row = json.loads(record.data)
                        yield case.source, record.key, _opened(row)


def _opened(row):
    opened = {}
    for name, value in row.items():
        try:
            within = json.loads(value)
        except (TypeError, ValueError):
            within = None
        is_json = isinstance(within, dict | list)
        opened[name] = {"json in a text": within} if is_json else value
    return opened


def _closed(value):
    match value:
        case {"json in a text": within}:
            return json.dumps(within)
        case _:
            return value


ROWS = list(golden_rows())
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["[{", "{}", "[]", "2026-10-01 09:00:00", "1e400"]),
)
ANYTHING = st.recursive(
    LEAVES,
    lambda it: st.lists(it, max_size=3) | st.dictionaries(st.text(max_size=3), it),
)


@given(st.data(), st.sampled_from(ROWS), ANYTHING)
def test_a_damaged_row_is_facts_or_rejects_and_never_a_crash(data, whole, anything):
    source, key, row = whole
    damaged = spoiled(data, row, anything)
    damaged = {name: _closed(value) for name, value in damaged.items()}
    are_facts_or_rejects(*read(source, key, damaged))


@given(st.data(), st.sampled_from([one for one in ROWS if "$blob" in str(one)]))
def test_a_damaged_blob_is_facts_or_rejects_and_never_a_crash(data, whole):
    source, key, row = whole
    row = json.loads(json.dumps(row))
    (name,) = (it for it in ("task", "data", "stylized_output") if it in row)
    body = bytearray(base64.b64decode(row[name]["$blob"]))
    at = data.draw(st.integers(0, len(body) - 1))
    body[at] = data.draw(st.integers(0, 255))
    row[name] = {"$blob": base64.b64encode(bytes(body)).decode()}
    _, rejects = read(source, key, {it: _closed(value) for it, value in row.items()})
    assert not any("in parse" in reject.reason for reject in rejects)


# -- Goose

CALL = {"id": 7, "session_id": "20261001_3", "created_timestamp": 1790845203}


@pytest.mark.parametrize(
    ("session_id", "created_at", "identity"),
    [
        ("20261001_3", "2026-10-01 09:00:00", "20261001_3@2026-10-01 09:00:00"),
        ("20261001_3", None, "20261001_3"),
        ("20250921_100000", "2025-09-21 10:00:00", "20250921_100000"),
        ("errands", "2025-09-21 10:00:00", "errands"),
    ],
)
def test_only_an_id_that_counts_up_may_be_given_again(session_id, created_at, identity):
    row = {"id": session_id, "created_at": created_at, "working_dir": "/home/ada"}
    found = only(Session, "goose", "sessions/x/y", row)
    assert found.session_id == identity


@pytest.mark.parametrize(
    ("born", "owner"),
    [
        ("2026-10-01 09:00:03", "20261001_3@2026-10-01 09:00:03"),
        ("2026-10-01 09:00:04", "20261001_3"),
        ("some day", "20261001_3@some day"),
    ],
)
def test_a_call_older_than_the_session_of_its_id_is_of_a_deleted_one(born, owner):
    row = CALL | {"session_created_at": born, "input_tokens": 1}
    assert only(Usage, "goose", "usage_ledger/7", row).session_id == owner


# -- Hermes


@pytest.mark.parametrize(
    ("url", "provider", "said"),
    [
        ("http://localhost:8317/v1", "anthropic", "anthropic via localhost"),
        ("http://127.0.0.1/", None, "unknown via localhost"),
        ("https://api.anthropic.com", "anthropic", "anthropic"),
        ("http://[broken", "anthropic", "anthropic"),
        (None, "", None),
    ],
)
def test_a_proxy_of_this_machine_is_said_with_the_provider(url, provider, said):
    row = {
        "session_id": "s",
        "model": "m",
        "billing_provider": provider,
        "billing_base_url": url,
        "input_tokens": 1,
    }
    found = only(Usage, "hermes", "session_model_usage/s/m", row)
    assert found.provider == said


@pytest.mark.parametrize(
    ("row", "cost"),
    [
        ({"actual_cost_usd": 0.25, "estimated_cost_usd": 0.5}, 0.25),
        ({"actual_cost_usd": 0, "estimated_cost_usd": 0.5}, 0.5),
        ({"actual_cost_usd": 0, "estimated_cost_usd": 0}, None),
        ({"cost_status": "included", "cost_source": "plan"}, 0.0),
        ({"cost_status": "included", "cost_source": "none"}, None),
        ({"cost_status": "included"}, None),
    ],
)
def test_a_cost_of_0_is_one_only_where_a_plan_includes_it(row, cost):
    row = {"session_id": "s", "model": "m", "output_tokens": 1, **row}
    found = only(Usage, "hermes", "session_model_usage/s/m", row)
    assert found.reported_cost_usd == cost


# -- Zed


def test_a_thread_that_unpacks_to_more_than_it_may_is_rejected(monkeypatch):
    monkeypatch.setattr(document, "MOST", 1000)
    packed = zstd.compress(b'{"messages":[],"title":"' + b"a" * 5000 + b'"}')
    blob = {"$blob": base64.b64encode(packed).decode()}
    facts, rejects = read(
        "zed", "threads/t", {"id": "t", "data_type": "zstd"} | {"data": blob}
    )
    assert facts == []
    assert [one.reason for one in rejects] == [
        "thread cannot be unpacked: it is larger than 1,000 bytes"
    ]
