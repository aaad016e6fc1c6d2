/*
One row per time that a running total was seen to have grown, with by how much.

grain   source, usage_id, step
key     source, session_id
checks  not_null(session_id)
only    staging.usage where kind = 'snapshot'
why     A source that keeps only totals is one row of core.usage per total. These are
        its parts, each at the moment at which it was seen: days are added up from
        them. A price that depends on the size of a prompt fits no total.
*/
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
    call_cost(usage, price) as cost_usd,
    price.price_id,
    -- lineage
    usage.stream_id,
    usage.generation,
    usage.seq
from core._snapshots as usage
left join core.prices as price on price_fits(usage, price)
where
    not usage.is_superseded
    and greatest(
        usage.input_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.output_tokens,
        usage.web_search_requests,
        usage.amount,
        usage.reported_cost_usd
    )
    > 0
