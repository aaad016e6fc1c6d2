"""What stands below a report: how sure its costs are, and what is in no sum of it."""

import sys

from agentlake.pipelines.cli.query import rows
from agentlake.pipelines.cli.table import usd
from agentlake.pipelines.cli.width import clean
from agentlake.pipelines.warehouse.connect import Connection

_MOST_MODELS = 5


def tell_costs(connection: Connection, *, is_table: bool) -> None:
    """What the costs are, and how sure: what is assumed, or the agent's own."""
    query = """
        select
            sum(cost_high_usd) filter (where price_assumptions is not null) as assumed,
            string_agg(distinct price_assumptions, ', ') as assumptions,
            sum(reported_cost_usd) filter (where cost_low_usd is null) as reported,
            count(*) filter (where cost_high_usd > cost_low_usd) as bounded,
            count(cost_low_usd) as priced
        from core.usage
        where unit in ('tokens', 'usd') and is_asked_for(called_at)
            and is_chosen(source, session_id) and is_chosen_model(model)
    """
    _, ((assumed, assumptions, reported, bounded, priced),) = rows(connection, query)
    notes = []
    if priced:
        notes.append(
            "Costs are what the API would have charged: a subscription costs its fee."
        )
    if reported and is_table:
        notes.append(f"* {usd(reported)} is the agent's own figure: we know no price.")
    if bounded and is_table:
        notes.append("A range: a total does not say how large each of its calls was.")
    if assumed:
        steps = ", ".join(sorted({it.strip() for it in assumptions.split(",")}))
        notes.append(
            f"{usd(assumed)} rests on assumptions ({steps}): `agentlake prices MODEL`"
        )
    for note in notes:
        print(note, file=sys.stderr)
    _tell_unpriced(connection, is_table=is_table)
    _tell_units(connection)


def _tell_unpriced(connection: Connection, *, is_table: bool) -> None:
    """Unknown cost is loud: how many calls have none, and of which models."""
    query = """
        select coalesce(model, '(no model)') as model, count(*) as calls
        from core.usage
        where cost_low_usd is null and reported_cost_usd is null
            and unit = 'tokens' and is_asked_for(called_at)
            and is_chosen(source, session_id) and is_chosen_model(model)
        group by all order by calls desc, model
    """
    _, found = rows(connection, query)
    if found:
        named = [f"{clean(model)} ({calls:,})" for model, calls in found[:_MOST_MODELS]]
        if more := len(found) - len(named):
            named.append(f"{more:,} more")
        total = sum(calls for _, calls in found)
        print(
            f"{total:,} {'call has' if total == 1 else 'calls have'} no known cost and"
            f" {'is' if total == 1 else 'are'} in no sum: {', '.join(named)}\n"
            f"  {'>= means more than this. ' if is_table else ''}To price a model:"
            ' [prices."its name"] in the settings file, then `agentlake load`; why:'
            " `from marts.unpriced_models`.",
            file=sys.stderr,
        )


def _tell_units(connection: Connection) -> None:
    """What is counted in no tokens is in no sum of this report: where it is."""
    query = """
        select distinct unit from core.usage
        where unit not in ('tokens', 'usd') and is_asked_for(called_at)
            and is_chosen(source, session_id) and is_chosen_model(model)
        order by unit
    """
    _, found = rows(connection, query)
    if found:
        units = ", ".join(unit for (unit,) in found)
        print(
            f"What is counted in {units} is in no sum: `agentlake report unit`",
            file=sys.stderr,
        )
