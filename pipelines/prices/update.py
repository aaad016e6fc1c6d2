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
from agentlake.pipelines.transform.refresh import UsedSince
from agentlake.pipelines.transform.sql_models import QUOTES, RECORDS
from agentlake.pipelines.warehouse.connect import Connection, transaction

_KEY = "source, provider, model, service_tier, region"


def prepare(connection: Connection) -> None:
    """Begin to import the price package if there is usage, and no price was ever asked.

    That takes a second; meanwhile DuckDB makes the models that need no price.
    """
    ((is_first,),) = connection.execute(
        "select exists(from staging.usage) and not exists(from meta.price_offers)"
    ).fetchall()
    if is_first:
        Thread(target=import_module, args=("genai_prices",), daemon=True).start()


def update_quotes(
    connection: Connection, used_since: UsedSince, overrides: Mapping[str, Any]
) -> None:
    """Add quotes for what was used for the first time.

    All are made again when the package or the user's overrides changed; the
    fingerprint in `meta.model_state` then makes the refresh cost everything again.
    Raises UserError for an override that cannot be understood.
    """
    now = fingerprint(overrides)
    before, since = _state(connection, QUOTES)
    _, upto = _state(connection, RECORDS)
    if (before, since) == (now, upto):
        return
    used = _offers(connection, used_since(since if before == now else -1))
    known = _offers(connection, "meta.price_offers")
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
            [QUOTES, now, upto],
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


def _state(connection: Connection, table: str) -> tuple[str | None, int]:
    """The fingerprint of a table, and the load up to which it is right."""
    rows = connection.execute(
        "select fingerprint, load_id from meta.model_state where model = $1", [table]
    ).fetchall()
    return rows[0] if rows else (None, -1)


def _offers(connection: Connection, rows: str) -> set[Offer]:
    named = f"from (select distinct {_KEY} from {rows}) where model is not null"
    return {Offer(*row) for row in connection.execute(named).fetchall()}


def _save(connection: Connection, **tables: Sequence[msgspec.Struct]) -> None:
    # Imported here: a refresh without a new model must not pay for Arrow.
    from agentlake.pipelines.warehouse.insert import insert_columns

    for table, rows in tables.items():
        if rows:
            names = rows[0].__struct_fields__
            columns = {name: [getattr(one, name) for one in rows] for name in names}
            insert_columns(connection, f"meta.{table}", columns)
