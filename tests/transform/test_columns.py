"""The dictionary of columns: every column has an entry, and every client sees it."""

import duckdb
import pytest

from agentlake.models.dictionary.columns import COLUMNS
from agentlake.models.dictionary.tables import META
from agentlake.models.table import FACTS
from agentlake.pipelines.transform.columns import (
    bound,
    fact_columns,
    meta_columns,
    model_columns,
    raw_columns,
    undescribed,
)
from agentlake.pipelines.transform.sql_models import ModelError, models, read_model
from agentlake.pipelines.warehouse.schema import META_TABLES


@pytest.fixture(scope="module")
def described():
    """The columns of all tables that people ask, by table and name."""
    with duckdb.connect() as binder:
        types = bound(binder)
        found = {
            name: model_columns(model, types, set(), binder)
            for name, model in models().items()
            if "._" not in name
        }
        found |= {f"staging.{fact.TABLE}": fact_columns(fact, types) for fact in FACTS}
        found |= {table: meta_columns(table, types) for table in META_TABLES}
        found["raw"] = raw_columns(types)
    return {
        table: {column.name: column for column in columns}
        for table, columns in found.items()
    }


def test_every_column_that_people_ask_has_an_entry(described):
    missing = [
        name
        for table, columns in described.items()
        for name in undescribed(table, columns.values())
    ]
    assert missing == []


def test_no_entry_is_of_a_column_that_there_is_not(described):
    with duckdb.connect() as binder:
        types = bound(binder)
    names = {name for columns in types.values() for name in columns}
    assert COLUMNS.keys() <= names
    for table, entries in META.items():
        assert entries.keys() <= described[table].keys(), table


def test_a_column_that_is_passed_on_says_from_where(described):
    columns = described["marts.model_usage"]
    assert columns["input_tokens"].type == "bigint"
    assert columns["input_tokens"].entry.unit == "tokens"
    assert columns["input_tokens"].origin == "Sum of core.usage.input_tokens"
    assert columns["calls"].text.startswith("Number of requests to a model")


def test_a_model_may_overrule_the_dictionary(described):
    own = described["marts.usage_windows"]["started_at"].text
    assert own.startswith("When the window begins")
    assert own.endswith(" Zone: UTC.")
    assert described["core.sessions"]["started_at"].text != own
    assert "local_output" in described["core.messages"]["kind"].entry.values


def test_a_header_says_values_with_their_meanings(tmp_path):
    path = tmp_path / "x.sql"
    path.write_text(
        "/*\nOne row per a.\n\ngrain   a\ncolumns a (yes: it is | no)  Whether\n"
        "            it is.\n        b  Another (one).\n*/\nselect 1 as a, 2 as b\n"
    )
    with duckdb.connect() as parser:
        found = read_model("core.x", path, parser).columns
    assert found["a"].meaning == "Whether it is. One of: yes (it is), no."
    assert found["b"].meaning == "Another (one)."


def test_a_header_that_begins_with_no_column_is_refused(tmp_path):
    path = tmp_path / "x.sql"
    path.write_text("/*\nOne row per a.\n\ngrain   a\ncolumns a\n*/\nselect 1 as a\n")
    with duckdb.connect() as parser, pytest.raises(ModelError, match="columns: 'a'"):
        read_model("core.x", path, parser)


def test_every_client_sees_what_a_column_means(lake):
    comments = dict(
        lake.rows(
            """
            select concat_ws('.', schema_name, table_name, column_name), comment
            from duckdb_columns() where comment is not null
            """
        )
    )
    assert comments["core.usage.input_tokens"].endswith(" Unit: tokens.")
    assert comments["marts.daily_usage.usage_date"].endswith(" of the settings.")
    assert "One of: call (" in comments["staging.usage.kind"]
    assert comments["raw.codex.payload"] == "The record exactly as it was found."
    assert comments["meta.streams.missing_since"].startswith("Since when")


def test_a_meaning_that_changed_is_written_again(lake):
    lake.connection.execute("comment on column core.usage.cost_usd is 'older words'")
    lake.connection.execute("delete from meta.settings where name = 'comments'")
    lake.load()
    ((comment,),) = lake.rows(
        """
        select comment from duckdb_columns()
        where table_name = 'usage' and schema_name = 'core'
            and column_name = 'cost_usd'
        """
    )
    assert comment.startswith("Cost by the price list")
