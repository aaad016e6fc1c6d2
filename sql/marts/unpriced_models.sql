/*
One row per model that no price is known for, with what it was used for.

grain   source, provider, model, service_tier
why     An unknown price is never $0, nor is a price by prompt size that of a total. Name a price in the settings, [prices."model"],
        and the history is costed again.
*/
select
    usage.source,
    usage.provider,
    usage.model,
    usage.service_tier,
    count(*) as calls,
    cast(sum(usage.input_tokens) as bigint) as input_tokens,
    cast(sum(usage.cache_read_tokens) as bigint) as cache_read_tokens,
    cast(sum(usage.cache_write_tokens) as bigint) as cache_write_tokens,
    cast(sum(usage.output_tokens) as bigint) as output_tokens,
    min(usage.called_at) as first_called_at,
    max(usage.called_at) as last_called_at
from core.usage as usage
where usage.cost_usd is null and usage.unit = 'tokens'
group by all
order by count(*) desc
