"""The tables that the loader writes: raw, staging and meta.

`core` and `marts` are made by the SQL models (`sql_models`), not here.
"""

import hashlib
from collections.abc import Iterable, Mapping

import duckdb

from agentlake.models.fact import Fact
from agentlake.models.table import FACTS, Column, columns, stored_columns
from agentlake.pipelines.literal import literal
from agentlake.pipelines.warehouse.connect import Connection, transaction
from agentlake.pipelines.warehouse.meta import store, stored

LONG_TEXT = frozenset({"text", "input", "payload", "result_text"})
"""Columns that hold transcripts; DuckDB picks zstd only when it is told to."""

_STAMP = "schema"  # in meta.settings: a digest of all that this module creates
_PRICE_STAMP = "price_schema"  # the same of the tables of prices alone
_PRICE_TABLES = ("meta.price_offers", "meta.price_quotes")

META_TABLES = {
    "meta.streams": (
        "One row per stream: the file, and how far it has been loaded.",
        """
        stream_id bigint not null, source varchar not null, key varchar not null,
        path varchar not null, reader varchar not null,
        device bigint, inode bigint, size bigint, mtime_ns bigint, beside varchar,
        cursor varchar, generation integer not null, parser_version integer not null,
        records bigint not null, status varchar not null, reason varchar,
        first_loaded_at timestamptz not null, loaded_at timestamptz not null,
        missing_since timestamptz, load_id bigint not null
        """,
    ),
    "meta.sources": (
        "One row per agent whose history can be read: what its adapter says of it.",
        """
        source varchar not null, display_name varchar not null, icon varchar not null,
        stores varchar[] not null, gives varchar[]
        """,
    ),
    "meta.loads": (
        "One row per transaction of a load: a long load has many.",
        """
        load_id bigint not null, started_at timestamptz not null,
        finished_at timestamptz, streams bigint not null, records bigint not null,
        bytes bigint not null, rejects bigint not null
        """,
    ),
    "meta.rejects": (
        "One row per record, or part of one, that could not be understood.",
        """
        source varchar not null, stream_id bigint not null,
        generation integer not null, seq bigint not null, byte_offset bigint not null,
        reason varchar not null, load_id bigint not null
        """,
    ),
    "meta.unknown_records": (
        "One row per type in a record that its adapter neither uses nor ignores.",
        """
        source varchar not null, stream_id bigint not null,
        generation integer not null, seq bigint not null, byte_offset bigint not null,
        type varchar not null, load_id bigint not null
        """,
    ),
    "meta.session_loads": (
        "One row per load and session of which it wrote, replaced or made rows.",
        """
        source varchar not null, session_id varchar not null, load_id bigint not null
        """,
    ),
    "meta.model_state": (
        "One row per SQL model: up to which load its rows are right.",
        """
        model varchar not null, fingerprint varchar not null,
        load_id bigint not null, refreshed_at timestamptz not null
        """,
    ),
    "meta.session_groups": (
        "One row per session that must be recomputed together with others.",
        """
        source varchar not null, session_id varchar not null, group_id varchar not null
        """,
    ),
    "meta.session_ids": (
        "One row per session and id by which it may be found to share history.",
        """
        source varchar not null, id_hash ubigint not null, session_id varchar not null
        """,
    ),
    "meta.settings": (
        "One row per setting that the warehouse itself must know.",
        """
        name varchar not null, value varchar not null
        """,
    ),
    "meta.price_offers": (
        "One row per model as it was named, with what the name was found to be.",
        """
        source varchar not null, provider varchar, model varchar not null,
        service_tier varchar, region varchar, vendor varchar, canonical_model varchar,
        price_channel varchar, seller varchar, list_model varchar, price_region varchar,
        price_tier varchar, context_variant varchar, effort varchar,
        price_assumptions varchar, unpriced_because varchar
        """,
    ),
    "meta.price_lists": (
        "One row per price list that was ever in force, with since when.",
        """
        price_list bigint not null, fingerprint varchar not null,
        in_force_at timestamptz not null
        """,
    ),
    "meta.price_changes": (
        "One row per price list, month and model whose calls it costs otherwise.",
        """
        price_list bigint not null, month date, source varchar not null,
        model varchar, calls bigint not null, before_usd decimal(38, 6),
        after_usd decimal(38, 6), newly_priced bigint not null,
        no_longer_priced bigint not null
        """,
    ),
    "meta.price_quotes": (
        "One row per rate that can apply to a model that was used.",
        """
        price_id varchar not null, source varchar not null, provider varchar,
        model varchar not null, service_tier varchar, region varchar,
        seller varchar, list_model varchar,
        valid_from timestamptz, valid_to timestamptz, time_from time, time_to time,
        weekdays smallint, tier_above bigint, tier_upto bigint,
        input_usd decimal(24, 18), cache_read_usd decimal(24, 18),
        cache_write_usd decimal(24, 18), cache_write_1h_usd decimal(24, 18),
        output_usd decimal(24, 18), reasoning_usd decimal(24, 18),
        web_search_usd decimal(24, 18), request_usd decimal(24, 18),
        origin varchar not null, page varchar
        """,
    ),
}
"""Per table: what a row is, and its columns."""

_ADDED = {"meta.streams": ("beside varchar",)}
"""Columns that files made by earlier versions do not have."""

_RAW = """
    stream_id bigint not null, generation integer not null, seq bigint not null,
    record_key varchar not null, content_hash varchar not null,
    byte_offset bigint not null,
    payload varchar using compression zstd, payload_bytes blob,
    load_id bigint not null"""


def raw_table(source: str) -> str:
    """The raw table of a source, quoted."""
    return f'raw."{source}"'


def long_texts(table: str) -> list[str]:
    """The columns of a table of staging that hold long texts."""
    for fact in FACTS:
        if f"staging.{fact.TABLE}" == table:
            return [one.name for one in columns(fact) if one.name in LONG_TEXT]
    return []


def ensure(connection: Connection, sources: Iterable[str]) -> None:
    """Create what is missing; costs one look when nothing is.

    Facts that have other columns than when they were written are dropped, and their
    streams marked: the next load parses them again from raw.
    """
    tables = dict(META_TABLES) | {
        raw_table(source): (f"One row per record of {source}, as it was found.", _RAW)
        for source in sources
    }
    facts = {
        f"staging.{fact.TABLE}": (_first_line(fact), _definitions(fact))
        for fact in FACTS
    }
    stamp = _digest([tables, facts])
    if _stored(connection, _STAMP) == stamp:
        return
    prices = _digest([tables[table] for table in _PRICE_TABLES])
    are_prices_old = _stored(connection, _PRICE_STAMP) != prices
    with transaction(connection):
        for schema in ("raw", "staging", "core", "marts", "meta"):
            connection.execute(f"create schema if not exists {schema}")
        _create(connection, {"meta.model_state": tables["meta.model_state"]})
        if are_prices_old:
            _drop_prices(connection)
        _create(connection, tables)
        _drop_outdated_facts(connection)
        _create(connection, facts)
        store(connection, _STAMP, stamp)
        store(connection, _PRICE_STAMP, prices)


def _create(connection: Connection, tables: Mapping[str, tuple[str, str]]) -> None:
    for table, (description, definitions) in tables.items():
        connection.execute(f"create table if not exists {table} ({definitions})")
        for column in _ADDED.get(table, ()):
            connection.execute(f"alter table {table} add column if not exists {column}")
        connection.execute(f"comment on table {table} is {literal(description)}")


def _digest(definitions: object) -> str:
    return hashlib.sha256(repr(definitions).encode()).hexdigest()[:16]


def _stored(connection: Connection, name: str) -> str | None:
    try:
        return stored(connection, name)
    except duckdb.CatalogException:  # a file without any table of ours
        return None


def _drop_prices(connection: Connection) -> None:
    """Prices are made again from what was used: nothing is worth keeping of them."""
    for table in _PRICE_TABLES:
        connection.execute(f"drop table if exists {table}")
    connection.execute("delete from meta.model_state where model = 'meta.price_quotes'")


def _drop_outdated_facts(connection: Connection) -> None:
    rows = connection.execute(
        """
        select 'staging.' || table_name, list(column_name order by column_index)
        from duckdb_columns() where schema_name = 'staging' group by all
        """
    ).fetchall()
    wanted = {f"staging.{fact.TABLE}": _names(fact) for fact in FACTS}
    same = all(wanted.get(table) == names for table, names in rows)
    if same and not _are_lost(connection, rows):
        return
    for table, _ in rows:
        connection.execute(f"drop table {table}")
    connection.execute("update meta.streams set parser_version = -1")


def _are_lost(connection: Connection, tables: list[tuple[str, list[str]]]) -> bool:
    """Whether there are facts, and nothing tells which loads wrote them."""
    if connection.execute("select 1 from meta.session_loads limit 1").fetchall():
        return False
    return any(
        connection.execute(f"select 1 from {table} limit 1").fetchall()
        for table, _ in tables
    )


def _names(fact: type[Fact]) -> list[str]:
    return [column.name for column in stored_columns(fact)]


def _definitions(fact: type[Fact]) -> str:
    return ", ".join(map(_definition, stored_columns(fact)))


def _first_line(fact: type[Fact]) -> str:
    return (fact.__doc__ or "").splitlines()[0]


def _definition(column: Column) -> str:
    parts = [column.name, column.sql_type]
    if column.required:
        parts.append("not null")
    if column.name in LONG_TEXT:
        parts.append("using compression zstd")
    return " ".join(parts)
