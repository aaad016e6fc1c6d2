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
                then 'replay of another thread'
                when steps.kind = 'response'
                then null
                when steps.place >= steps.records_from
                then 'response record counts instead'
                when steps.is_repeat
                then 'total unchanged'
                when steps.is_stale
                then 'total written late'
                when not steps.has_no_last and steps.is_zero
                then 'no request behind it'
                when
                    steps.has_no_last
                    and least(
                        steps.input_delta,
                        steps.cache_read_delta,
                        steps.cache_write_delta,
                        steps.output_delta
                    )
                    < 0
                then 'total went down'
                when
                    steps.has_no_last
                    and steps.input_delta + steps.cache_read_delta + steps.output_delta
                    = 0
                then 'no request behind it'
                when inherited.counter is not null
                then 'total of an ancestor'
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
    )

select
    judged.source,
    judged.stream_id,
    judged.generation,
    judged.seq,
    judged.part,
    judged.usage_id,
    judged.session_id,
    judged.agent_id,
    judged.message_id,
    judged.model,
    judged.called_at,
    judged.input_tokens,
    judged.cache_read_tokens,
    judged.cache_write_tokens,
    judged.cache_write_1h_tokens,
    judged.output_tokens,
    judged.reasoning_tokens,
    judged.web_search_requests,
    judged.service_tier,
    judged.reported_cost_usd,
    judged.has_no_last,
    judged.input_delta,
    judged.cache_read_delta,
    judged.cache_write_delta,
    judged.output_delta,
    judged.reasoning_delta,
    calls.copies,
    coalesce(
        judged.rule,
        if(
            (judged.stream_id, judged.place, judged.part) = calls.bill,
            null,
            'the same call'
        )
    ) as dropped_by
from judged
inner join calls on calls.source = judged.source and calls.usage_id = judged.usage_id
