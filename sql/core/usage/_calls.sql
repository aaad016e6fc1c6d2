/*
One row per billed call, before its price.

grain   source, usage_id
why     Families of formats, one shape: usage named by message, calls told by running
        totals, totals that are all there is, and what a total holds beyond its calls.
*/
with
    searched as (
        select
            calls.source,
            calls.message_id,
            calls.tool_call_id,
            max(results.search_count) as search_count
        from staging.tool_calls as calls
        inner join
            staging.tool_results as results
            on results.source = calls.source
            and results.session_id = calls.session_id
            and results.tool_call_id = calls.tool_call_id
        where results.search_count is not null
        group by all
    ),
    searches as (
        select source, message_id, sum(search_count) as search_count
        from searched
        group by all
    ),
    providers as (
        select
            source, session_id, arg_min(provider, place_of(generation, seq)) as provider
        from staging.sessions
        where provider is not null
        group by all
    )

select
    calls.source,
    calls.usage_id,
    calls.owner_session_id as session_id,
    calls.owner_agent_id as agent_id,
    calls.message_id,
    calls.provider,
    coalesce(branches.model, calls.model, models.model) as model,
    calls.first_at as called_at,
    calls.input_tokens,
    calls.cache_read_tokens,
    calls.cache_write_tokens,
    calls.cache_write_1h_tokens,
    calls.output_tokens,
    calls.reasoning_tokens,
    case
        when calls.call_part = ''
        then greatest(calls.web_search_requests, cast(searches.search_count as bigint))
        else calls.web_search_requests
    end as web_search_requests,
    calls.service_tier,
    calls.region,
    calls.granularity,
    calls.unit,
    calls.amount,
    calls.is_estimated,
    calls.has_hourly_windows,
    calls.call_cost_usd as reported_cost_usd,
    calls.copies,
    calls.stream_id,
    calls.generation,
    calls.seq
from core._message_calls as calls
left join
    searches
    on searches.source = calls.source
    and searches.message_id = calls.message_id
left join
    core._call_models as models
    on models.source = calls.source
    and models.session_id = calls.session_id
    and models.called_at = calls.called_at
    and calls.model is null
    and calls.granularity = 'call'
left join
    core._branch_models as branches
    on branches.source = calls.source
    and branches.stream_id = calls.stream_id
    and branches.generation = calls.generation
    and branches.seq = calls.seq
    and branches.part = calls.part
where
    calls.is_bill
    and not calls.is_replaced
    and not calls.is_superseded
    and not calls.is_nothing
union all by name
select
    calls.source,
    calls.usage_id,
    calls.session_id,
    calls.agent_id,
    calls.message_id,
    providers.provider,
    coalesce(calls.model, models.model) as model,
    calls.called_at,
    if(calls.has_no_last, calls.input_delta, calls.input_tokens) as input_tokens,
    if(
        calls.has_no_last, calls.cache_read_delta, calls.cache_read_tokens
    ) as cache_read_tokens,
    if(
        calls.has_no_last, calls.cache_write_delta, calls.cache_write_tokens
    ) as cache_write_tokens,
    calls.cache_write_1h_tokens,
    if(calls.has_no_last, calls.output_delta, calls.output_tokens) as output_tokens,
    if(
        calls.has_no_last, calls.reasoning_delta, calls.reasoning_tokens
    ) as reasoning_tokens,
    calls.web_search_requests,
    coalesce(calls.service_tier, models.service_tier) as service_tier,
    'call' as granularity,
    'tokens' as unit,
    calls.reported_cost_usd,
    calls.copies,
    calls.stream_id,
    calls.generation,
    calls.seq
from core._counter_calls as calls
left join
    core._turn_models as models
    on models.source = calls.source
    and models.stream_id = calls.stream_id
    and models.generation = calls.generation
    and models.seq = calls.seq
    and models.part = calls.part
left join
    providers
    on providers.source = calls.source
    and providers.session_id = calls.session_id
where calls.dropped_by is null
union all by name
select
    totals.source,
    totals.usage_id,
    arg_max(totals.session_id, totals.step) as session_id,
    arg_max(totals.agent_id, totals.step) as agent_id,
    arg_max(totals.message_id, totals.step) as message_id,
    arg_max(totals.provider, totals.step) as provider,
    arg_max(totals.model, totals.step) as model,
    max(totals.called_at) as called_at,
    cast(sum(totals.input_tokens) as bigint) as input_tokens,
    cast(sum(totals.cache_read_tokens) as bigint) as cache_read_tokens,
    cast(sum(totals.cache_write_tokens) as bigint) as cache_write_tokens,
    cast(sum(totals.cache_write_1h_tokens) as bigint) as cache_write_1h_tokens,
    cast(sum(totals.output_tokens) as bigint) as output_tokens,
    cast(sum(totals.reasoning_tokens) as bigint) as reasoning_tokens,
    cast(sum(totals.web_search_requests) as bigint) as web_search_requests,
    arg_max(totals.service_tier, totals.step) as service_tier,
    arg_max(totals.region, totals.step) as region,
    arg_max(totals.granularity, totals.step) as granularity,
    arg_max(totals.unit, totals.step) as unit,
    sum(totals.amount) as amount,
    bool_or(totals.is_estimated) as is_estimated,
    sum(totals.reported_cost_usd) as reported_cost_usd,
    max(totals.copies) as copies,
    arg_max(totals.stream_id, totals.step) as stream_id,
    arg_max(totals.generation, totals.step) as generation,
    arg_max(totals.seq, totals.step) as seq,
    true as is_total
from core._snapshots as totals
where not totals.is_superseded
group by totals.source, totals.usage_id
union all by name
select
    remainders.source,
    remainders.usage_id,
    remainders.session_id,
    remainders.agent_id,
    remainders.message_id,
    remainders.provider,
    remainders.model,
    remainders.called_at,
    remainders.input_tokens,
    remainders.cache_read_tokens,
    remainders.cache_write_tokens,
    remainders.output_tokens,
    remainders.reasoning_tokens,
    remainders.service_tier,
    remainders.granularity,
    'tokens' as unit,
    remainders.is_estimated,
    remainders.reported_cost_usd,
    0 as copies,
    remainders.stream_id,
    remainders.generation,
    remainders.seq
from core._remainders as remainders
where remainders.is_newest and remainders.has_remainder
union all by name
select
    segments.source,
    segments.usage_id,
    segments.session_id,
    segments.agent_id,
    segments.provider,
    segments.model,
    segments.called_at,
    segments.input_tokens,
    segments.cache_read_tokens,
    segments.cache_write_tokens,
    segments.output_tokens,
    segments.reasoning_tokens,
    'session' as granularity,
    'tokens' as unit,
    segments.calls,
    segments.is_less as is_estimated,
    segments.reported_cost_usd,
    segments.copies,
    segments.stream_id,
    segments.generation,
    segments.seq
from core._run_segment_calls as segments
where segments.dropped_by is null
union all by name
select
    replies.source,
    replies.usage_id,
    replies.session_id,
    replies.agent_id,
    replies.message_id,
    replies.provider,
    replies.model,
    replies.called_at,
    replies.input_tokens,
    replies.cache_read_tokens,
    replies.cache_write_tokens,
    replies.output_tokens,
    'call' as granularity,
    'tokens' as unit,
    replies.input_tokens is null as is_estimated,
    replies.copies,
    replies.stream_id,
    replies.generation,
    replies.seq
from core._run_segment_replies as replies
where replies.dropped_by is null
