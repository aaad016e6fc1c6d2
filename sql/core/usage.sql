/*
One row per billed call to a model, with what it cost.

grain   source, usage_id
key     source, session_id
checks  not_null(session_id, called_at); expect(input_tokens >= 0 or input_tokens is null);
        expect(output_tokens >= 0 or output_tokens is null);
        expect(cache_write_1h_tokens <= cache_write_tokens or cache_write_1h_tokens is null)
why     The price is chosen per call: by its date, hour, service tier and the size of
        its prompt. No price known: cost_usd is null and the model is listed in
        marts.unpriced_models. What the agent itself reported stands beside it.
*/
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
    'call' as granularity,
    false as is_estimated,
    cast(usage.reported_cost_usd as decimal(18, 6)) as reported_cost_usd,
    call_cost(usage, price) as cost_usd,
    price.price_id,
    usage.copies,
    -- lineage
    usage.stream_id,
    usage.generation,
    usage.seq
from core._calls as usage
left join
    core.prices as price
    on price.model = usage.model
    and price.provider is not distinct from usage.provider
    and price.service_tier is not distinct from usage.service_tier
    and usage.called_at >= coalesce(price.valid_from, timestamptz '-infinity')
    and usage.called_at < coalesce(price.valid_to, timestamptz 'infinity')
    and cast(timezone('UTC', usage.called_at) as time)
    >= coalesce(price.time_from, time '00:00:00')
    and cast(timezone('UTC', usage.called_at) as time)
    < coalesce(price.time_to, time '24:00:00')
    and coalesce(usage.input_tokens, 0)
    + coalesce(usage.cache_read_tokens, 0)
    + coalesce(usage.cache_write_tokens, 0)
    > price.tier_above
    and coalesce(usage.input_tokens, 0)
    + coalesce(usage.cache_read_tokens, 0)
    + coalesce(usage.cache_write_tokens, 0)
    <= coalesce(price.tier_upto, 9223372036854775807)
