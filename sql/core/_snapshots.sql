/*
One row per record of a total so far, with how far it grew since the one before.

grain   source, stream_id, generation, seq, part
why     A total that newer ones replace says nothing of single calls, but what it grew
        by, and when that was seen, adds up to it. No part of it is ever lowered: a
        smaller step is an error of the source, or (`resets`) the start of a new
        count.
*/
with
    placed as (
        select
            usage.*,
            coalesce(
                usage.usage_key, usage.session_id || ':' || coalesce(usage.model, '')
            ) as usage_id,
            place_of(usage.generation, usage.seq) as place,
            coalesce(coalesce(usage.trust, 0) < scopes.trust, false) as is_outranked
        from staging.usage as usage
        left join
            core._scopes as scopes
            on scopes.source = usage.source
            and scopes.scope = usage.scope
        where usage.kind = 'snapshot'
    ),
    walked as (
        select
            *,
            coalesce(
                resets
                and (
                    input_tokens < lag(input_tokens) over walk
                    or cache_read_tokens < lag(cache_read_tokens) over walk
                    or cache_write_tokens < lag(cache_write_tokens) over walk
                    or output_tokens < lag(output_tokens) over walk
                    or amount < lag(amount) over walk
                ),
                false
            ) as is_reset,
            row_number() over walk as step,
            count(*) over (partition by source, usage_id, is_outranked) as steps
        from placed
        window
            walk as (
                partition by source, usage_id, is_outranked
                order by called_at nulls first, place, stream_id, part
            )
    ),
    counted as (
        select
            *,
            sum(cast(is_reset as integer)) over (
                partition by source, usage_id, is_outranked order by step
            ) as epoch
        from walked
    )

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
    service_tier,
    granularity,
    unit,
    is_estimated,
    scope,
    is_outranked,
    step,
    steps - 1 as copies,
    step = steps and not is_outranked as is_newest,
    greatest(
        0, input_tokens - coalesce(max(input_tokens) over earlier, 0)
    ) as input_tokens,
    greatest(
        0, cache_read_tokens - coalesce(max(cache_read_tokens) over earlier, 0)
    ) as cache_read_tokens,
    greatest(
        0, cache_write_tokens - coalesce(max(cache_write_tokens) over earlier, 0)
    ) as cache_write_tokens,
    greatest(
        0, cache_write_1h_tokens - coalesce(max(cache_write_1h_tokens) over earlier, 0)
    ) as cache_write_1h_tokens,
    greatest(
        0, output_tokens - coalesce(max(output_tokens) over earlier, 0)
    ) as output_tokens,
    greatest(
        0, reasoning_tokens - coalesce(max(reasoning_tokens) over earlier, 0)
    ) as reasoning_tokens,
    greatest(
        0, web_search_requests - coalesce(max(web_search_requests) over earlier, 0)
    ) as web_search_requests,
    greatest(0, amount - coalesce(max(amount) over earlier, 0)) as amount,
    greatest(
        0, reported_cost_usd - coalesce(max(reported_cost_usd) over earlier, 0)
    ) as reported_cost_usd
from counted
window
    earlier as (
        partition by source, usage_id, is_outranked, epoch
        order by step
        rows between unbounded preceding and 1 preceding
    )
