/*
One row per record of a total so far: the newest has all that the total grew by, the
others have their own step; dropped_by says why it is no usage of its own, null that it
is.

grain   source, stream_id, generation, seq, part
only    staging.usage where kind = 'snapshot'
why     A source that keeps only totals has one row of usage per total, from its newest
        record. What only an older record names (a model, a provider) holds for the
        total.
*/
select
    source,
    arg_max(stream_id, step) as stream_id,
    arg_max(generation, step) as generation,
    arg_max(seq, step) as seq,
    arg_max(part, step) as part,
    usage_id,
    arg_max(session_id, step) as session_id,
    arg_max(agent_id, step) as agent_id,
    arg_max(message_id, step) as message_id,
    arg_max(provider, step) as provider,
    arg_max(model, step) as model,
    max(called_at) as called_at,
    cast(sum(input_tokens) as bigint) as input_tokens,
    cast(sum(cache_read_tokens) as bigint) as cache_read_tokens,
    cast(sum(cache_write_tokens) as bigint) as cache_write_tokens,
    cast(sum(cache_write_1h_tokens) as bigint) as cache_write_1h_tokens,
    cast(sum(output_tokens) as bigint) as output_tokens,
    cast(sum(reasoning_tokens) as bigint) as reasoning_tokens,
    cast(sum(web_search_requests) as bigint) as web_search_requests,
    arg_max(service_tier, step) as service_tier,
    arg_max(region, step) as region,
    arg_max(granularity, step) as granularity,
    arg_max(unit, step) as unit,
    sum(amount) as amount,
    bool_or(is_estimated) as is_estimated,
    true as is_total,
    sum(reported_cost_usd) as reported_cost_usd,
    max(copies) as copies,
    cast(null as varchar) as dropped_by
from core._snapshots
where not is_superseded
group by source, usage_id
union all by name
select
    source,
    stream_id,
    generation,
    seq,
    part,
    usage_id,
    session_id,
    agent_id,
    message_id,
    provider,
    model,
    called_at,
    input_tokens,
    cache_read_tokens,
    cache_write_tokens,
    cache_write_1h_tokens,
    output_tokens,
    reasoning_tokens,
    web_search_requests,
    service_tier,
    region,
    granularity,
    unit,
    amount,
    is_estimated,
    true as is_total,
    reported_cost_usd,
    copies,
    if(is_superseded, 'superseded', 'earlier_total') as dropped_by
from core._snapshots
where not is_newest
