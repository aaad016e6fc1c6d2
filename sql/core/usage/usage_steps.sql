/*
One row per time that a running total was seen to have grown, with by how much.

grain   source, usage_id, step
key     source, session_id
checks  not_null(session_id)
only    staging.usage where kind = 'snapshot'
why     A source that keeps only totals is one row of core.usage per total. These are
        its parts, each at the moment at which it was seen: days are added up from
        them. What a step grew by was used since the step before it, in calls of unknown
        size: where the rates that may apply differ, cost_low_usd and cost_high_usd bound
        its cost and cost_usd is null.
*/
with
    steps as materialized(
        select *
        from core._snapshots
        where
            not is_superseded
            and greatest(
                input_tokens,
                cache_read_tokens,
                cache_write_tokens,
                output_tokens,
                web_search_requests,
                amount,
                reported_cost_usd
            )
            > 0
    ),
    bounds as (
        select
            usage.source,
            usage.usage_id,
            usage.step,
            min(call_cost(usage, price)) as low_usd,
            max(call_cost(usage, price)) as high_usd,
            min(price.price_id) as price_id
        from steps as usage
        inner join core.prices as price on price_may_fit(usage, price, usage.since_at)
        group by all
    )

select
    -- keys
    usage.source,
    usage.usage_id,
    usage.step,
    usage.session_id,
    usage.agent_id,
    -- facts
    usage.provider,
    usage.model,
    usage.called_at,
    usage.unit,
    usage.input_tokens,
    usage.cache_read_tokens,
    usage.cache_write_tokens,
    usage.cache_write_1h_tokens,
    usage.output_tokens,
    usage.reasoning_tokens,
    usage.web_search_requests,
    usage.amount,
    cast(usage.reported_cost_usd as decimal(18, 6)) as reported_cost_usd,
    if(bounds.low_usd = bounds.high_usd, bounds.low_usd, null) as cost_usd,
    bounds.low_usd as cost_low_usd,
    bounds.high_usd as cost_high_usd,
    bounds.price_id,
    named.price_assumptions,
    -- lineage
    usage.stream_id,
    usage.generation,
    usage.seq
from steps as usage
left join core.model_names as named on is_offered(usage, named)
left join
    bounds
    on bounds.source = usage.source
    and bounds.usage_id = usage.usage_id
    and bounds.step = usage.step
