"""Keep `meta.price_quotes` up to date with what was used and what it costs.

Quotes are made only for what the usage names, and the price package is imported
only when something new was used: a load without a new model never pays for it.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from threading import Thread
from typing import Any

import msgspec

from agentlake.errors import UserError
from agentlake.pipelines.prices.names import Offer
from agentlake.pipelines.prices.quotes import fingerprint, quotes
from agentlake.pipelines.transform.refresh import QUOTES
from agentlake.pipelines.warehouse.connect import Connection, transaction
from agentlake.pipelines.warehouse.meta import last_load_id

# All that can be asked for: a model is named by the usage, by its turn or by a message
# of its branch, a provider by the usage or by its session, a tier by the usage or by
# the settings of the thread: then each model of the source may meet each of its tiers.
_USED = """
    with
    tiers as (
        select distinct source, service_tier
        from staging.turns
        where service_tier is not null
    ),
    new_tiers as (
        select distinct source
        from staging.turns
        where load_id > $since and service_tier is not null
            and (source, service_tier) not in (
                select (source, service_tier) from meta.price_offers
                where service_tier is not null
            )
    ),
    named as (
        select distinct source, provider, model, service_tier, region
        from staging.usage
        where model is not null
            and (load_id > $since or source in (from new_tiers))
        union
        select turns.source, sessions.provider, turns.model, null, null
        from (
            select distinct source, session_id, model
            from staging.turns
            where model is not null
                and (load_id > $since or source in (from new_tiers))
        ) as turns
        left join (
            select distinct source, session_id, provider
            from staging.sessions where provider is not null
        ) as sessions using (source, session_id)
        union
        select
            unnamed.source,
            unnamed.provider,
            messages.model,
            unnamed.service_tier,
            unnamed.region
        from (
            select distinct source, session_id, provider, service_tier, region
            from staging.usage
            where load_id > $since and kind = 'call' and model is null
                and turn_id is not null
        ) as unnamed
        inner join staging.messages as messages using (source, session_id)
        where messages.model is not null
    )
    from named
    union
    select named.source, named.provider, named.model, tiers.service_tier, named.region
    from named
    inner join tiers using (source)
    where named.service_tier is null"""
_KEY = "source, provider, model, service_tier, region"


def prepare(connection: Connection) -> None:
    """Begin to import the price package if a model was used that was never priced.

    That takes a second; meanwhile DuckDB makes the models that need no price.
    """
    _, since = _state(connection)
    used = _offers(connection, f"select * from ({_USED})", since=since)
    if used - _offers(connection, f"select {_KEY} from meta.price_offers"):
        Thread(target=import_module, args=("genai_prices",), daemon=True).start()


def update_quotes(connection: Connection, overrides: Mapping[str, Any]) -> None:
    """Add quotes for what was used for the first time.

    All are made again when the package or the user's overrides changed; the
    fingerprint in `meta.model_state` then makes the refresh cost everything again.
    Raises UserError for an override that cannot be understood.
    """
    now = fingerprint(overrides)
    before, since = _state(connection)
    head = last_load_id(connection)
    if (before, since) == (now, head):
        return
    if before != now:
        since = 0
    used = _offers(connection, f"select * from ({_USED})", since=since)
    known = _offers(connection, f"select {_KEY} from meta.price_offers")
    missing = used if before != now else used - known
    try:
        asked = sorted(missing, key=str)
        offers, rows = quotes(asked, overrides) if asked else ([], [])
    except ValueError as error:
        raise UserError(str(error)) from error
    with transaction(connection):
        if before != now:
            _put_in_force(connection, now)
            connection.execute("delete from meta.price_quotes")
            connection.execute("delete from meta.price_offers")
        _save(connection, price_offers=offers, price_quotes=rows)
        connection.execute("delete from meta.model_state where model = $1", [QUOTES])
        connection.execute(
            "insert into meta.model_state values ($1, $2, $3, now())",
            [QUOTES, now, head],
        )


def _put_in_force(connection: Connection, text: str) -> None:
    """Note since when a price list holds, unless it is the one that held."""
    connection.execute(
        """
        insert into meta.price_lists
        select coalesce(max(price_list), 0) + 1, $1, now()
        from meta.price_lists
        having coalesce(arg_max(fingerprint, price_list), '') <> $1
        """,
        [text],
    )


def _state(connection: Connection) -> tuple[str | None, int]:
    """The fingerprint of the quotes, and the load up to which they were asked for."""
    rows = connection.execute(
        "select fingerprint, load_id from meta.model_state where model = $1", [QUOTES]
    ).fetchall()
    return rows[0] if rows else (None, 0)


def _offers(connection: Connection, query: str, **parameters: int) -> set[Offer]:
    return {Offer(*row) for row in connection.execute(query, parameters).fetchall()}


def _save(connection: Connection, **tables: Sequence[msgspec.Struct]) -> None:
    # Imported here: a refresh without a new model must not pay for Arrow.
    from agentlake.pipelines.warehouse.insert import insert_columns

    for table, rows in tables.items():
        if rows:
            names = rows[0].__struct_fields__
            columns = {name: [getattr(one, name) for one in rows] for name in names}
            insert_columns(connection, f"meta.{table}", columns)
