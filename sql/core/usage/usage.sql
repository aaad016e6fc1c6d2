/*
One row per billed call to a model, with what it cost; where the agent keeps only a
total, one per total.

grain   source, usage_id
key     source, session_id
checks  not_null(session_id, granularity, unit); expect(called_at is not null); expect(calls >= 0 or calls is null);
        expect(unit = 'tokens' or (input_tokens is null and output_tokens is null)); expect(input_tokens >= 0 or input_tokens is null);
        expect(output_tokens >= 0 or output_tokens is null);
        expect(cache_write_1h_tokens <= cache_write_tokens or cache_write_1h_tokens is null)
repriced  core._usage_records
why     The price is chosen per call: by its date, hour, service tier, region and the size
        of its prompt. No price known: cost_usd is null and the model is listed in
        marts.unpriced_models, with the reason. Where the rate depends on what a sum hides,
        cost_usd is null too, and cost_low_usd and cost_high_usd bound it; elsewhere they
        equal it. What the agent itself reported stands beside it. What is not counted in
        tokens (`unit`) has its number in `amount` and no tokens. `calls` is how many requests a row
        stands for; null: unknown.
*/
with
    calls as materialized(
        select
            *,
            called_at is null
            or (granularity <> 'call' and coalesce(calls, 0) <> 1) as is_hidden
        from core._usage_records
        where dropped_by is null
    ),
    steps as (
        select
            source,
            usage_id,
            if(
                count(cost_usd) = count(*), cast(sum(cost_usd) as decimal(18, 6)), null
            ) as cost_usd,
            if(
                count(cost_low_usd) = count(*),
                cast(sum(cost_low_usd) as decimal(18, 6)),
                null
            ) as cost_low_usd,
            if(
                count(cost_high_usd) = count(*),
                cast(sum(cost_high_usd) as decimal(18, 6)),
                null
            ) as cost_high_usd
        from core.usage_steps
        where unit = 'tokens'
        group by all
    ),
    bounds as (
        select
            usage.source,
            usage.usage_id,
            min(call_cost(usage, price)) as low_usd,
            max(call_cost(usage, price)) as high_usd,
            min(price.price_id) as price_id
        from calls as usage
        inner join core.prices as price on price_may_fit(usage, price, null)
        where usage.is_hidden and not coalesce(usage.is_total, false)
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
    usage.region,
    usage.granularity,
    if(usage.granularity = 'call', 1, usage.calls) as calls,
    coalesce(usage.is_estimated, false) as is_estimated,
    usage.unit,
    usage.amount,
    coalesce(usage.has_hourly_windows, false) as has_hourly_windows,
    coalesce(usage.is_total, false) as is_total,
    cast(usage.reported_cost_usd as decimal(18, 6)) as reported_cost_usd,
    case
        when usage.is_total
        then steps.cost_usd
        when usage.is_hidden
        then if(bounds.low_usd = bounds.high_usd, bounds.low_usd, null)
        else call_cost(usage, price)
    end as cost_usd,
    case
        when usage.is_total
        then steps.cost_low_usd
        when usage.is_hidden
        then bounds.low_usd
        else call_cost(usage, price)
    end as cost_low_usd,
    case
        when usage.is_total
        then steps.cost_high_usd
        when usage.is_hidden
        then bounds.high_usd
        else call_cost(usage, price)
    end as cost_high_usd,
    if(
        usage.is_hidden,
        if(bounds.low_usd = bounds.high_usd, bounds.price_id, null),
        price.price_id
    ) as price_id,
    named.vendor,
    named.canonical_model,
    named.price_channel,
    named.price_region,
    named.price_tier,
    named.context_variant,
    named.effort,
    named.price_assumptions,
    usage.copies,
    -- lineage
    usage.stream_id,
    usage.generation,
    usage.seq
from calls as usage
left join core.prices as price on not usage.is_hidden and price_fits(usage, price)
left join core.model_names as named on is_offered(usage, named)
left join
    bounds
    on usage.is_hidden
    and bounds.source = usage.source
    and bounds.usage_id = usage.usage_id
left join
    steps
    on usage.is_total
    and steps.source = usage.source
    and steps.usage_id = usage.usage_id
