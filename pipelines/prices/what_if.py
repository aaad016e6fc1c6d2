"""What history would cost at other prices, without changing anything.

The calls that were costed are costed again beside the warehouse, by the quotes that the
prices in question give: those of the settings and price lists of now, or others.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec

from agentlake.errors import UserError
from agentlake.pipelines.prices.names import Offer
from agentlake.pipelines.prices.quotes import PriceRow, quotes
from agentlake.pipelines.warehouse.connect import Connection

_USED = """
    select distinct source, provider, model, service_tier, region
    from core.model_names
    where $model is null or model = $model or canonical_model = $model
    order by all
"""
# What hides its rate has a cost where every rate that may apply gives the same.
_COSTS = """
    with
    prices as (from temp.what_if_prices),
    asked as (select unnest($models) as model),
    calls as (
        select *, called_at is null
            or (granularity <> 'call' and coalesce(calls, 0) <> 1) as is_hidden
        from core.usage
        where unit = 'tokens' and model in (from asked)
    ),
    costed as (
        select usage.source, usage.model, usage.usage_id, usage.cost_usd as before_usd,
            call_cost(usage, price) as after_usd
        from calls as usage
        left join prices as price on price_fits(usage, price)
        where not usage.is_hidden
        union all by name
        select usage.source, usage.model, usage.usage_id,
            any_value(usage.cost_usd) as before_usd,
            if(min(call_cost(usage, price)) = max(call_cost(usage, price)),
                min(call_cost(usage, price)), null) as after_usd
        from calls as usage
        left join prices as price on price_may_fit(usage, price, null)
        where usage.is_hidden
        group by usage.source, usage.model, usage.usage_id
    )
    select source, model, count(*),
        count(*) filter (where before_usd is distinct from after_usd),
        sum(before_usd), sum(after_usd),
        count(*) filter (where before_usd is null),
        count(*) filter (where after_usd is null)
    from costed
    group by source, model
    order by abs(coalesce(sum(after_usd), 0) - coalesce(sum(before_usd), 0)) desc,
        source, model
"""


class WhatIf(msgspec.Struct, frozen=True):
    """One model of a source, at the costs of now and at those in question."""

    source: str
    model: str
    rows: int
    changed: int
    before_usd: Decimal | None
    after_usd: Decimal | None
    unpriced_before: int
    unpriced_after: int


def used(connection: Connection, model: str | None) -> list[Offer]:
    """What was used of a model, by either of its names; None: everything."""
    found = connection.execute(_USED, {"model": model}).fetchall()
    return [Offer(*row) for row in found]


def what_if(
    connection: Connection, offers: list[Offer], overrides: Mapping[str, Any]
) -> list[WhatIf]:
    """Cost what was used of these by other prices; the largest change first."""
    from agentlake.pipelines.warehouse.insert import insert_columns

    try:
        _, rows = quotes(offers, overrides)
    except ValueError as error:
        raise UserError(str(error)) from error
    connection.execute(
        "create or replace temp table what_if_prices as from meta.price_quotes limit 0"
    )
    if rows:
        names = PriceRow.__struct_fields__
        columns = {name: [getattr(row, name) for row in rows] for name in names}
        insert_columns(connection, "temp.what_if_prices", columns)
    models = sorted({offer.model for offer in offers})
    found = connection.execute(_COSTS, {"models": models}).fetchall()
    return [WhatIf(*row) for row in found]
