/*
One row per record of a total so far, with how far it grew since the one before.

grain   source, stream_id, generation, seq, part
only    staging.usage where kind = 'snapshot'
why     A total that newer ones replace shows no single calls; what it grew by, and when
        that was seen, adds up to it. No part of it is ever lowered: a
        smaller step is an error of the source, or (`resets`) the start of a new
        count. One without a time is of the last message beside it. A session made from
        another one may have begun with its total.
*/
with
    timeless as (
        select distinct source, session_id, stream_id
        from staging.usage
        where kind = 'snapshot' and called_at is null
    ),
    last_said as (
        select
            messages.source,
            messages.session_id,
            messages.stream_id,
            max(messages.sent_at) as sent_at
        from staging.messages as messages
        inner join
            timeless
            on timeless.source = messages.source
            and timeless.session_id = messages.session_id
            and timeless.stream_id = messages.stream_id
        group by all
    ),
    placed as (
        select
            usage.* replace (coalesce(usage.called_at, last_said.sent_at) as called_at),
            coalesce(
                usage.usage_key, usage.session_id || ':' || coalesce(usage.model, '')
            ) as usage_id,
            place_of(usage.generation, usage.seq) as place,
            coalesce(
                coalesce(usage.precedence, 0) < scopes.precedence, false
            ) as is_superseded
        from staging.usage as usage
        left join
            core._scopes as scopes
            on scopes.source = usage.source
            and scopes.scope = usage.scope
        left join
            last_said
            on last_said.source = usage.source
            and last_said.session_id = usage.session_id
            and last_said.stream_id = usage.stream_id
        where usage.kind = 'snapshot'
    ),
    walked as (
        select
            *,
            coalesce(
                resets
                and (
                    input_tokens < lag(input_tokens) over own_walk
                    or cache_read_tokens < lag(cache_read_tokens) over own_walk
                    or cache_write_tokens < lag(cache_write_tokens) over own_walk
                    or output_tokens < lag(output_tokens) over own_walk
                    or amount < lag(amount) over own_walk
                ),
                false
            ) as is_reset,
            row_number() over walk as step,
            lag(called_at) over walk as since_at,
            count(*) over (partition by source, usage_id, is_superseded) as steps
        from placed
        window
            walk as (
                partition by source, usage_id, is_superseded
                order by called_at nulls first, place, stream_id, part
            ),
            -- an old copy of the file that is still there is no new count
            own_walk as (
                partition by source, usage_id, is_superseded, stream_id
                order by called_at nulls first, place, part
            )
    ),
    counted as (
        select
            walked.*,
            sum(cast(walked.is_reset as integer)) over (
                partition by walked.source, walked.usage_id, walked.is_superseded
                order by walked.step
            ) as epoch,
            if(epoch = 0, origins.counts, null) as origin
        from walked
        left join
            core._snapshot_origins as origins
            on origins.source = walked.source
            and origins.usage_id = walked.usage_id
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
    since_at,
    service_tier,
    region,
    granularity,
    unit,
    is_estimated,
    scope,
    is_superseded,
    step,
    steps - 1 as copies,
    step = steps and not is_superseded as is_newest,
    beyond(
        input_tokens, coalesce(max(input_tokens) over earlier, origin.input_tokens)
    ) as input_tokens,
    beyond(
        cache_read_tokens,
        coalesce(max(cache_read_tokens) over earlier, origin.cache_read_tokens)
    ) as cache_read_tokens,
    beyond(
        cache_write_tokens,
        coalesce(max(cache_write_tokens) over earlier, origin.cache_write_tokens)
    ) as cache_write_tokens,
    beyond(
        cache_write_1h_tokens, max(cache_write_1h_tokens) over earlier
    ) as cache_write_1h_tokens,
    beyond(
        output_tokens, coalesce(max(output_tokens) over earlier, origin.output_tokens)
    ) as output_tokens,
    beyond(
        reasoning_tokens,
        coalesce(max(reasoning_tokens) over earlier, origin.reasoning_tokens)
    ) as reasoning_tokens,
    beyond(
        web_search_requests, max(web_search_requests) over earlier
    ) as web_search_requests,
    beyond(amount, max(amount) over earlier) as amount,
    beyond(
        reported_cost_usd,
        coalesce(max(reported_cost_usd) over earlier, origin.reported_cost_usd)
    ) as reported_cost_usd
from counted
window
    earlier as (
        partition by source, usage_id, is_superseded, epoch
        order by step
        rows between unbounded preceding and 1 preceding
    )
