"""Keep `meta.price_quotes` up to date with what was used and what it costs.

Quotes are made only for what the usage names, and the price package is imported
only when something new was used: a load without a new model never pays for it.
"""

from collections.abc import Mapping
from typing import Any

from agentlake.models.errors import UserError
from agentlake.pipelines.warehouse.connect import Connection, transaction
from agentlake.pipelines.warehouse.prices import (
    Offer,
    PriceRow,
    fingerprint,
    quotes,
)

_FINGERPRINT = "price_fingerprint"

# All that can be asked for: a model is named by the usage or by its turn, a
# provider by the usage or by its session.
_USED = """
    select distinct provider, model, service_tier
    from (
        select source, coalesce(provider, '') as provider, model, service_tier
        from staging.usage where model is not null
        union all
        select turns.source, coalesce(sessions.provider, ''), turns.model, null
        from (select distinct source, session_id, model from staging.turns) as turns
        left join (
            select distinct source, session_id, provider
            from staging.sessions where provider is not null
        ) as sessions using (source, session_id)
        where turns.model is not null
    )"""


def update_quotes(connection: Connection, overrides: Mapping[str, Any]) -> bool:
    """Add quotes for what was used for the first time; True if old ones changed too.

    They change when the package or the user's overrides do: then everything is
    costed again. Raises UserError for an override that cannot be understood.
    """
    now = fingerprint(overrides)
    before = connection.execute(
        "select value from meta.settings where name = $1", [_FINGERPRINT]
    ).fetchall()
    is_new = before != [(now,)]
    known = set() if is_new else _offers(connection, "meta.price_offers")
    missing = _offers(connection, f"({_USED})") - known
    if not missing and not is_new:
        return False
    try:
        rows = quotes(sorted(missing, key=str), overrides) if missing else []
    except ValueError as error:
        raise UserError(str(error)) from error
    with transaction(connection):
        if is_new:
            connection.execute("delete from meta.price_quotes")
            connection.execute("delete from meta.price_offers")
            connection.execute(
                "delete from meta.settings where name = $1", [_FINGERPRINT]
            )
            connection.execute(
                "insert into meta.settings values ($1, $2)", [_FINGERPRINT, now]
            )
        _save(connection, missing, rows)
    return is_new and bool(before)


def _offers(connection: Connection, table: str) -> set[Offer]:
    rows = connection.execute(
        f"select nullif(provider, ''), model, service_tier from {table}"
    ).fetchall()
    return {Offer(*row) for row in rows}


def _save(connection: Connection, offers: set[Offer], rows: list[PriceRow]) -> None:
    # Imported here: a refresh without a new model must not pay for Arrow.
    from agentlake.pipelines.warehouse.insert import insert_columns  # noqa: PLC0415

    for table, values in (("price_offers", list(offers)), ("price_quotes", rows)):
        if values:
            names = getattr(values[0], "_fields", None) or PriceRow.__struct_fields__
            columns = {name: [getattr(one, name) for one in values] for name in names}
            insert_columns(connection, f"meta.{table}", columns)
