/*
One row per day, source and model with the calls of that day.

grain   usage_date, source, model
why     A call belongs to the day on which it was made, in the zone of the settings
        (or, for one connection, of `set variable time_zone = ...`).
*/
select
    local_date(usage.called_at) as usage_date,
    usage.source,
    usage.model,
    count(*) as calls,
    cast(sum(usage.input_tokens) as bigint) as input_tokens,
    cast(sum(usage.cache_read_tokens) as bigint) as cache_read_tokens,
    cast(sum(usage.cache_write_tokens) as bigint) as cache_write_tokens,
    cast(sum(usage.output_tokens) as bigint) as output_tokens,
    cast(sum(usage.web_search_requests) as bigint) as web_search_requests,
    cast(sum(usage.cost_usd) as decimal(18, 6)) as cost_usd,
    count(*) filter (where usage.cost_usd is null) as unpriced_calls
from core.usage as usage
where is_asked_for(usage.called_at)
group by all
order by usage_date desc, usage.source, usage.model
