/*
One row per record that shows a running total, or the vendor's own record of a response;
dropped_by says why it is no call of its own, null that it is one.

grain   source, stream_id, generation, seq
why     The same total is written again with every status update; compactions and full
        contexts write totals with no request behind them; forks and resumes go on
        from a copied total. So a call is a total that changed, its usage the last
        request's numbers; only where these are missing the difference of totals.
        From a thread's first response record on, these count and totals do not.
*/
with
    placed as (
        select
            usage.*,
            (usage.generation::bigint << 40) + usage.seq as place,
            coalesce(usage.seq < replays.own_from_seq, false) as is_replay,
            min(
                if(kind = 'record', (usage.generation::bigint << 40) + usage.seq, null)
            ) over (partition by usage.source, usage.stream_id) as records_from
        from staging.usage as usage
        left join
            core._replays as replays
            on replays.source = usage.source
            and replays.stream_id = usage.stream_id
            and replays.generation = usage.generation
        where usage.kind in ('counter', 'record')
    ),
    walked as (
        select
            *,
            counter = lag(counter) over walk as is_repeat,
            input_tokens is null and output_tokens is null as has_no_last,
            coalesce(input_tokens, 0) = 0
            and coalesce(cache_read_tokens, 0) = 0
            and coalesce(cache_write_tokens, 0) = 0
            and coalesce(output_tokens, 0) = 0 as is_zero,
            total_input_tokens
            - coalesce(lag(total_input_tokens) over walk, 0) as input_delta,
            total_cache_read_tokens
            - coalesce(lag(total_cache_read_tokens) over walk, 0) as cache_read_delta,
            total_cache_write_tokens
            - coalesce(lag(total_cache_write_tokens) over walk, 0) as cache_write_delta,
            total_output_tokens
            - coalesce(lag(total_output_tokens) over walk, 0) as output_delta,
            total_reasoning_tokens
            - coalesce(lag(total_reasoning_tokens) over walk, 0) as reasoning_delta
        from placed
        window walk as (partition by source, stream_id, kind order by place)
    ),
    judged as (
        select
            walked.*,
            case
                when is_replay
                then 'replay of another thread'
                when kind = 'record'
                then null
                when place >= records_from
                then 'response record counts instead'
                when is_repeat
                then 'total unchanged'
                when not has_no_last and is_zero
                then 'no request behind it'
                when
                    has_no_last
                    and least(
                        input_delta, cache_read_delta, cache_write_delta, output_delta
                    )
                    < 0
                then 'total went down'
                when has_no_last and input_delta + cache_read_delta + output_delta = 0
                then 'no request behind it'
                when theirs.counter is not null
                then 'total of an ancestor'
            end as dropped_by
        from walked
        left join
            (
                select distinct above.source, above.session_id, usage.counter
                from core._ancestors as above
                inner join
                    staging.usage as usage
                    on usage.source = above.source
                    and usage.session_id = above.ancestor_id
                where usage.counter is not null
            ) as theirs
            on theirs.source = walked.source
            and theirs.session_id = walked.session_id
            and theirs.counter = walked.counter
    ),
    keyed as (
        select
            *,
            session_id
            || ':'
            || case
                when kind = 'record'
                then
                    coalesce(
                        request_id,
                        coalesce(turn_id, '') || '.' || coalesce(ordinal, seq)
                    )
                else coalesce(counter, stream_id || '.' || place)
            end as usage_id
        from judged
    )

select
    keyed.* exclude (dropped_by),
    coalesce(
        keyed.dropped_by,
        if(
            row_number() over (
                partition by source, usage_id, dropped_by is null
                order by called_at nulls last, place, stream_id
            )
            > 1,
            'the same call',
            null
        )
    ) as dropped_by
from keyed
