/*
One row per source, provider and model with all its calls.

grain   source, provider, model
*/
select
    usage.source,
    usage.provider,
    usage.model,
    min(usage.called_at) as first_called_at,
    max(usage.called_at) as last_called_at,
    cast(coalesce(sum(usage.calls), 0) as bigint) as calls,
    cast(sum(usage.input_tokens) as bigint) as input_tokens,
    cast(sum(usage.cache_read_tokens) as bigint) as cache_read_tokens,
    cast(sum(usage.cache_write_tokens) as bigint) as cache_write_tokens,
    cast(sum(usage.output_tokens) as bigint) as output_tokens,
    cast(sum(usage.reasoning_tokens) as bigint) as reasoning_tokens,
    cast(sum(usage.web_search_requests) as bigint) as web_search_requests,
    cast(sum(usage.cost_usd) as decimal(18, 6)) as cost_usd,
    count(*) filter (
        where usage.cost_usd is null and usage.unit = 'tokens'
    ) as unpriced_calls,
    cast(sum(usage.cost_low_usd) as decimal(18, 6)) as cost_low_usd,
    cast(sum(usage.cost_high_usd) as decimal(18, 6)) as cost_high_usd,
    assumed_usd(usage) as assumed_cost_usd,
    reported_only_usd(usage) as reported_only_usd,
    unknown_cost_calls(usage) as unknown_cost_calls
from core.usage as usage
where
    usage.unit in ('tokens', 'usd')
    and is_asked_for(usage.called_at)
    and is_chosen(usage.source, usage.session_id)
    and is_chosen_model(usage.model)
group by all
order by cost_usd desc nulls last, output_tokens desc
