"""What there is to say of prices: which hold, what they changed, what has none."""

from datetime import datetime

import msgspec

from agentlake.pipelines.warehouse.connect import Connection


class Unpriced(msgspec.Struct, frozen=True):
    """A model without a price, and how many calls that leaves without a cost."""

    source: str
    model: str | None
    calls: int
    because: str


class PriceList(msgspec.Struct, frozen=True):
    """The prices in force, and what they changed of what was costed before."""

    fingerprint: str
    in_force_at: datetime
    calls: int = 0
    """Calls of the past that it costs otherwise than the list before."""
    before_usd: float | None = None
    after_usd: float | None = None


def unpriced(connection: Connection) -> list[Unpriced]:
    """The models without a price, the most used first."""
    if not _has(connection, "marts", "unpriced_models"):
        return []
    rows = connection.execute(
        """
        select source, model, cast(sum(unpriced_rows) as bigint) as calls,
            string_agg(distinct because, '; ' order by because)
        from marts.unpriced_models group by all order by calls desc, source, model
        """
    ).fetchall()
    return [Unpriced(*row) for row in rows]


def price_list(connection: Connection) -> PriceList | None:
    """The prices in force; None where nothing was costed yet."""
    if not _has(connection, "meta", "price_lists"):
        return None
    rows = connection.execute(
        """
        select lists.fingerprint, lists.in_force_at,
            cast(coalesce(sum(changes.calls), 0) as bigint),
            cast(sum(changes.before_usd) as double),
            cast(sum(changes.after_usd) as double)
        from meta.price_lists as lists
        left join meta.price_changes as changes using (price_list)
        group by all order by max(lists.price_list) desc limit 1
        """
    ).fetchall()
    return PriceList(*rows[0]) if rows else None


def _has(connection: Connection, schema: str, name: str) -> bool:
    found = connection.execute(
        "select 1 from information_schema.tables"
        " where table_schema = $1 and table_name = $2",
        [schema, name],
    )
    return bool(found.fetchall())
