/*
One row per record that shows a running total, or the vendor's own record of a response;
dropped_by says why it is no call of its own, null that it is one.

grain   source, stream_id, generation, seq, part
only    staging.usage where kind in ('counter', 'response')
why     The same total is written again with every status update; compactions and full
        contexts write totals with no request behind them; forks and resumes go on
        from a copied total. So a call is a total that changed, its usage the last
        request's numbers; only where these are missing the difference of totals
        (core._counter_steps). From a thread's first response record on, these count
        and totals do not.
*/
with
    inherited as (
        select distinct above.source, above.session_id, usage.counter
        from core._ancestors as above
        inner join
            staging.usage as usage
            on usage.source = above.source
            and usage.session_id = above.ancestor_id
        where usage.counter is not null
    ),
    judged as (
        select
            steps.*,
            case
                when steps.is_replay
                then 'replay'
                when steps.kind = 'response'
                then null
                when steps.place >= steps.records_from
                then 'response_counts'
                when steps.is_repeat
                then 'same_total'
                when steps.is_stale
                then 'late_total'
                when not steps.has_no_last and steps.is_zero
                then 'no_request'
                when
                    steps.has_no_last
                    and least(
                        steps.input_delta,
                        steps.cache_read_delta,
                        steps.cache_write_delta,
                        steps.output_delta
                    )
                    < 0
                then 'total_fell'
                when
                    steps.has_no_last
                    and steps.input_delta + steps.cache_read_delta + steps.output_delta
                    = 0
                then 'no_request'
                when inherited.counter is not null
                then 'total_of_ancestor'
            end as rule
        from core._counter_steps as steps
        left join
            inherited
            on inherited.source = steps.source
            and inherited.session_id = steps.session_id
            and inherited.counter = steps.counter
    ),
    calls as (
        select
            source,
            usage_id,
            count(*) - 1 as copies,
            arg_min(
                (stream_id, place, part),
                (coalesce(called_at, timestamptz 'infinity'), place, stream_id, part)
            ) filter (where rule is null) as bill
        from judged
        group by all
    ),
    found as (
        select
            judged.*,
            calls.copies,
            coalesce(
                judged.rule,
                if(
                    (judged.stream_id, judged.place, judged.part) = calls.bill,
                    null,
                    'same_call'
                )
            ) as dropped_by,
            dropped_by is null and judged.has_no_last as is_delta
        from judged
        inner join
            calls on calls.source = judged.source and calls.usage_id = judged.usage_id
    ),
    providers as (
        select
            source, session_id, arg_min(provider, place_of(generation, seq)) as provider
        from staging.sessions
        where provider is not null
        group by all
    )

select
    found.source,
    found.stream_id,
    found.generation,
    found.seq,
    found.part,
    found.usage_id,
    found.session_id,
    found.agent_id,
    found.message_id,
    providers.provider,
    found.model,
    found.called_at,
    if(found.is_delta, found.input_delta, found.input_tokens) as input_tokens,
    if(
        found.is_delta, found.cache_read_delta, found.cache_read_tokens
    ) as cache_read_tokens,
    if(
        found.is_delta, found.cache_write_delta, found.cache_write_tokens
    ) as cache_write_tokens,
    found.cache_write_1h_tokens,
    if(found.is_delta, found.output_delta, found.output_tokens) as output_tokens,
    if(
        found.is_delta, found.reasoning_delta, found.reasoning_tokens
    ) as reasoning_tokens,
    found.web_search_requests,
    found.service_tier,
    'call' as granularity,
    'tokens' as unit,
    found.reported_cost_usd,
    found.copies,
    found.dropped_by
from found
left join
    providers
    on providers.source = found.source
    and providers.session_id = found.session_id
