"""Every source, by its golden cases and by the promises that all adapters make."""

import json
import os
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.cases import CASES, copied, plans
from support.warehouses import refreshed

from agentlake.adapters.registry import MANIFEST, adapters
from agentlake.adapters.sdk.conformance import (
    PROMISES,
    claimed_twice,
    everything,
    streams_of,
)
from agentlake.adapters.sdk.decode import encode
from agentlake.adapters.sdk.introduced import Introduced, introduced
from agentlake.adapters.sdk.load import manifest
from agentlake.fixtures import given
from agentlake.pipelines.ingest.loader import load

ACCEPT = os.environ.get("AGENTLAKE_ACCEPT") == "1"


def test_a_golden_case_gives_its_rows(case, new_lake, tmp_path):
    home = copied(case, tmp_path / case.name)
    found = {}
    connection = new_lake().connection
    load(connection, plans(home), refresh=refreshed)
    for check in case.checks:
        rows = connection.execute(check["sql"]).fetchall()
        found[check["name"]] = [[_plain(value) for value in row] for row in rows]
    for check in case.checks:
        assert found[check["name"]] == check["rows"], check["why"]
        for mistake, rows in check["wrong"].items():
            assert rows != check["rows"], f"{check['name']}: {mistake!r} is right?"


def _plain(value):
    return float(value) if isinstance(value, Decimal) else value


def test_a_golden_case_gives_its_facts(case):
    lines = [encode(line).decode() for line in facts(case)]
    file = case.folder / "expected.jsonl"
    if ACCEPT:
        file.write_text("".join(line + "\n" for line in lines))
    assert lines == file.read_text().splitlines()


def facts(case):
    """One line per fact and reject, in the order of path, record and part."""
    for plan in plans(case.home):
        for root in plan.roots:
            streams = streams_of(plan.adapter, root)
            for record, found, rejects in everything(plan.adapter, streams):
                path = os.path.relpath(record.stream.path, case.home)
                yield from _lines(case, path, record.seq, found, rejects)


def _lines(case, path, seq, found, rejects):
    parts = {}
    for fact in found:
        kind = type(fact).__name__
        part = parts[kind] = parts.get(kind, -1) + 1
        text = encode(fact).decode().replace(str(case.home), "~")
        yield [path, seq, kind, part, json.loads(text)]
    for reject in rejects:
        yield [path, seq, type(reject).__name__, 0, reject.reason]


@pytest.mark.parametrize("source", adapters())
@pytest.mark.parametrize("promise", PROMISES, ids=lambda it: it.__name__)
def test_an_adapter_keeps_its_promises(promise, source, tmp_path):
    for at, (adapter, root) in enumerate(all_roots()[source]):
        scratch = tmp_path / str(at)
        scratch.mkdir()
        promise(adapter, root, scratch)


@cache
def all_roots():
    """Of each source: its roots in the homes of all cases, also of other sources."""
    found = {source: [] for source in adapters()}
    for case in CASES:
        for plan in plans(case.home):
            roots = [(plan.adapter, root) for root in plan.roots]
            found[plan.adapter.SOURCE] += roots
    assert all(found.values())
    return found


def test_two_sources_never_claim_one_file():
    own = [
        (plan.adapter, root)
        for case in CASES
        for plan in plans(case.home)
        for root in plan.roots
    ]
    homes = [(adapter, case.home) for case in CASES for adapter in adapters().values()]
    assert claimed_twice(own + homes) == {}


def test_the_manifest_says_what_the_adapters_say():
    said = manifest(adapters(), {source: given.given(source) for source in adapters()})
    if ACCEPT:
        MANIFEST.write_bytes(said)
    assert MANIFEST.read_bytes() == said


STORES = {"jsonl": "lines", "sqlite": "databases"}


def _store(stream):
    is_database = Path(stream.path).read_bytes()[:15] == b"SQLite format 3"
    return "databases" if is_database else STORES.get(stream.reader, "documents")


@pytest.mark.parametrize("source", adapters())
def test_a_source_keeps_its_history_where_it_says(source):
    stores = {
        _store(stream)
        for case in CASES
        if case.source == source
        for plan in plans(case.home)
        if source == plan.adapter.SOURCE
        for root in plan.roots
        for stream in streams_of(plan.adapter, root)
    }
    assert set(adapters()[source].STORES) == stores


def test_a_source_is_told_by_its_name_and_its_icon():
    said = [introduced(adapter) for adapter in adapters().values()]
    assert len({one.name for one in said}) == len({one.icon for one in said})
    assert len({one.name for one in said}) == len(said)
    assert all(len(one.icon) == 1 for one in said)


def test_an_adapter_that_does_not_say_its_name_has_that_of_its_source():
    adapter = SimpleNamespace(SOURCE="acme_code")
    assert introduced(adapter) == Introduced("Acme Code", "A")


def test_every_source_has_golden_cases():
    assert {case.source for case in CASES} == set(adapters())


def test_an_empty_disk_gives_an_empty_warehouse(lake):
    report = lake.load()
    assert not report.wrote
    assert not any(one.found for one in report.sources.values())
    assert lake.rows("from core.sessions union all by name from core.usage") == []
