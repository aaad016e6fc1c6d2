"""Cost all history again when only prices changed, and remember what that changed.

A model whose header has a `repriced` line is made again from the table that the line
names, which is stored: neither raw nor staging is read. What a new price list did to
costs of the past is written down in `meta.price_changes`: the cost of a day never
changes silently.
"""

import re

from agentlake.pipelines.transform.sql_models import Model, fingerprint
from agentlake.pipelines.warehouse.connect import Connection

_ROWS_AT_ONCE = 500_000


def is_same_sql(model: Model, text: str) -> bool:
    """Whether a model's state differs from now by its prices alone."""
    return text.partition(",")[0] == fingerprint(model.name)


def fill_again(connection: Connection, model: Model, table: str, load_id: int) -> int:
    """Put the model's rows into another table, at the prices of now; how many."""
    stored = model.repriced
    ((read,),) = connection.execute(f"select count(*) from {stored}").fetchall()
    portions = 1 + read // _ROWS_AT_ONCE
    rows = 0
    for portion in range(portions):
        some = f"""(
            select * from {stored}
            where hash(source, session_id) % {portions} = {portion}
        )"""
        query = re.sub(rf"\b{re.escape(stored)}\b", some, model.query)
        ((more,),) = connection.execute(
            f"insert into {table} by name select *, {load_id} as load_id"
            f" from ({query}) order by {', '.join(model.key)}"
        ).fetchall()
        rows += more
    return rows


def record_changes(connection: Connection, old: str, new: str) -> None:
    """Write down, by month and model, which calls have another cost now than before.

    Only calls that both tables have: what was loaded meanwhile is no change of price.
    """
    connection.execute(
        f"""
        insert into meta.price_changes by name
        select
            (select max(price_list) from meta.price_lists) as price_list,
            cast(date_trunc('month', timezone('UTC', new.called_at)) as date) as month,
            new.source,
            new.model,
            count(*) as calls,
            sum(old.cost_usd) as before_usd,
            sum(new.cost_usd) as after_usd,
            count(*) filter (where old.cost_usd is null) as newly_priced,
            count(*) filter (where new.cost_usd is null) as no_longer_priced
        from {new} as new
        inner join {old} as old using (source, usage_id)
        where new.cost_usd is distinct from old.cost_usd
            and new.input_tokens is not distinct from old.input_tokens
            and new.output_tokens is not distinct from old.output_tokens
        group by all
        """
    )
