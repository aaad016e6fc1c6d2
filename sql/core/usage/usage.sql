/*
One row per billed call to a model, with what it cost; where the agent keeps only a
total, one per total.

grain   source, usage_id
key     source, session_id
checks  not_null(session_id, granularity, unit); expect(called_at is not null); expect(calls >= 0 or calls is null);
        expect(unit = 'tokens' or (input_tokens is null and output_tokens is null)); expect(input_tokens >= 0 or input_tokens is null);
        expect(output_tokens >= 0 or output_tokens is null);
        expect(cache_write_1h_tokens <= cache_write_tokens or cache_write_1h_tokens is null)
why     The price is chosen per call: by its date, hour, service tier and the size of
        its prompt. No price known: cost_usd is null and the model is listed in
        marts.unpriced_models. What the agent itself reported stands beside it. What is
        not counted in tokens (`unit`) has its number in `amount` and no tokens. `calls`
        is how many requests a row stands for; null: nobody told.
*/
with
    steps as (
        select source, usage_id, cast(sum(cost_usd) as decimal(18, 6)) as cost_usd
        from core.usage_steps
        group by all
    )

select
    -- keys
    usage.source,
    usage.usage_id,
    usage.session_id,
    usage.agent_id,
    usage.message_id,
    -- facts
    usage.provider,
    usage.model,
    usage.called_at,
    usage.input_tokens,
    usage.cache_read_tokens,
    usage.cache_write_tokens,
    usage.cache_write_1h_tokens,
    usage.output_tokens,
    usage.reasoning_tokens,
    usage.web_search_requests,
    usage.service_tier,
    usage.granularity,
    if(usage.granularity = 'call', 1, usage.calls) as calls,
    coalesce(usage.is_estimated, false) as is_estimated,
    usage.unit,
    usage.amount,
    coalesce(usage.has_hourly_windows, false) as has_hourly_windows,
    coalesce(usage.is_total, false) as is_total,
    cast(usage.reported_cost_usd as decimal(18, 6)) as reported_cost_usd,
    if(usage.is_total, steps.cost_usd, call_cost(usage, price)) as cost_usd,
    price.price_id,
    usage.copies,
    -- lineage
    usage.stream_id,
    usage.generation,
    usage.seq
from core._calls as usage
left join core.prices as price on price_fits(usage, price)
left join
    steps
    on usage.is_total
    and steps.source = usage.source
    and steps.usage_id = usage.usage_id
