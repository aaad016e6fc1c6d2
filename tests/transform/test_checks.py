"""Checks: what headers, the dictionary, files and frames say must hold of the rows."""

import duckdb
import pytest
from support.warehouses import refreshed

from agentlake.models.table import FACTS
from agentlake.pipelines.transform.checks.between import checks_between
from agentlake.pipelines.transform.checks.check import examples
from agentlake.pipelines.transform.checks.everything import check_everything
from agentlake.pipelines.transform.checks.frames import check_frames, frame_check
from agentlake.pipelines.transform.checks.header import header_checks
from agentlake.pipelines.transform.sql_models import ModelError, read_model


def test_an_empty_warehouse_keeps_every_check(lake):
    refreshed(lake.connection)
    assert [one for one in check_everything(lake.connection) if one.bad] == []


def test_a_value_that_the_dictionary_does_not_have_is_found(lake):
    lake.connection.execute(
        """
        insert into core.messages by name
        select 'acme' as source, 's' as session_id, 'm' as message_id,
            'ghost' as role, 'prompt' as kind, false as is_copied
        """
    )
    (found,) = [
        one
        for one in check_everything(lake.connection)
        if one.check.name == "values_role" and one.bad
    ]
    assert (found.check.table, found.bad) == ("core.messages", 1)
    (row,) = examples(lake.connection, found.check)
    assert row["role"] == "ghost"


WRONG_FACTS = {
    "messages": "insert into staging.messages by name select {lineage},"
    " 's' as session_id, 'm' as message_id, 'ghost' as role, 'prompt' as kind",
    "usage": "insert into staging.usage by name select {lineage},"
    " 's' as session_id, -1 as input_tokens, '' as call_part, 'call' as kind,"
    " 'tokens' as unit, 'call' as granularity",
}


@pytest.mark.parametrize("table", WRONG_FACTS)
def test_the_query_of_a_frame_finds_what_pandera_finds(lake, table):
    lineage = (
        "'acme' as source, 1 as stream_id, 0 as generation, 0 as seq, 0 as part,"
        " 1 as load_id"
    )
    lake.connection.execute(WRONG_FACTS[table].format(lineage=lineage))
    (fact,) = [one for one in FACTS if table == one.TABLE]
    rows, failures = check_frames(lake.connection, fact)
    assert (rows, failures.total()) == (1, 1)
    assert len(examples(lake.connection, frame_check(fact))) == 1


BAD_MODELS = {
    "checks  not_nul(a)": "neither not_null(...) nor expect(...)",
    "checks  not_null(b)": 'Referenced column "b" not found',
    "checks  expect(a >)": "syntax error",
}


@pytest.mark.parametrize("checks", BAD_MODELS)
def test_a_check_that_says_nothing_fails_at_the_start(tmp_path, checks):
    path = tmp_path / "x.sql"
    path.write_text(f"/*\nOne row per a.\n\ngrain   a\n{checks}\n*/\nselect 1 as a\n")
    with duckdb.connect() as binder:
        binder.execute("create schema core")
        binder.execute("create table core.x (a integer)")
        model = read_model("core.x", path, binder)
        with pytest.raises(ModelError) as caught:
            header_checks(model, {"a"}, binder)
    assert str(caught.value).startswith(str(path))
    assert BAD_MODELS[checks] in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select 1", "a check begins with a /* header */"),
        ("/*\nX.\n\nasset     core.x\nwhy       Y.\n*/\nselect x", '"x" was not found'),
    ],
)
def test_a_check_file_that_is_none_fails_at_the_start(tmp_path, text, message):
    (tmp_path / "x.sql").write_text(text)
    with duckdb.connect() as binder, pytest.raises(ModelError) as caught:
        list(checks_between(tmp_path, binder))
    assert message in str(caught.value)
