/*
One row per record that shows a running total, or the vendor's own record of a response,
with how far the total went since the one before.

grain   source, stream_id, generation, seq, part
only    staging.usage where kind in ('counter', 'response')
why     Whether a total is a call of its own depends on what stands before it in its
        stream, in a fork or a resume on the copied part too; a stale total is passed
        over.
*/
with
    responses as (
        select source, stream_id, min(place_of(generation, seq)) as records_from
        from staging.usage
        where kind = 'response'
        group by all
    ),
    placed as (
        select
            usage.*,
            place_of(usage.generation, usage.seq) as place,
            if(usage.part > 0, '.' || usage.part, '') as at_part,
            responses.records_from,
            is_replay(usage.seq, replays.head_seq, replays.own_from_seq) as is_replay,
            stale.seq is not null as is_stale
        from staging.usage as usage
        left join
            responses
            on responses.source = usage.source
            and responses.stream_id = usage.stream_id
        left join
            core._replays as replays
            on replays.source = usage.source
            and replays.stream_id = usage.stream_id
            and replays.generation = usage.generation
        left join
            core._stale_totals as stale
            on stale.source = usage.source
            and stale.stream_id = usage.stream_id
            and stale.generation = usage.generation
            and stale.seq = usage.seq
            and stale.part = usage.part
        where usage.kind in ('counter', 'response')
    )

select
    source,
    stream_id,
    generation,
    seq,
    part,
    place,
    session_id,
    agent_id,
    session_id
    || ':'
    || case
        when kind = 'response'
        then
            coalesce(
                request_id,
                coalesce(turn_id, '') || '.' || coalesce(ordinal, seq) || at_part
            )
        else coalesce(counter, stream_id || '.' || place || at_part)
    end as usage_id,
    message_id,
    kind,
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
    reported_cost_usd,
    counter,
    records_from,
    is_replay,
    is_stale,
    counter = lag(counter) over walk as is_repeat,
    input_tokens is null and output_tokens is null as has_no_last,
    coalesce(input_tokens, 0) = 0
    and coalesce(cache_read_tokens, 0) = 0
    and coalesce(cache_write_tokens, 0) = 0
    and coalesce(output_tokens, 0) = 0 as is_zero,
    total_input_tokens - coalesce(
        lag(if(is_stale, null, total_input_tokens) ignore nulls) over walk, 0
    ) as input_delta,
    total_cache_read_tokens - coalesce(
        lag(if(is_stale, null, total_cache_read_tokens) ignore nulls) over walk, 0
    ) as cache_read_delta,
    total_cache_write_tokens - coalesce(
        lag(if(is_stale, null, total_cache_write_tokens) ignore nulls) over walk, 0
    ) as cache_write_delta,
    total_output_tokens - coalesce(
        lag(if(is_stale, null, total_output_tokens) ignore nulls) over walk, 0
    ) as output_delta,
    total_reasoning_tokens - coalesce(
        lag(if(is_stale, null, total_reasoning_tokens) ignore nulls) over walk, 0
    ) as reasoning_delta
from placed
window walk as (partition by source, stream_id, kind order by place, part)
