/*
One row per end of a leg that told its tokens: whether these are of the leg alone or of
the session so far.

grain   source, session_id, record_id
only    staging.usage where kind = 'leg'
why     Versions differ, and no record says it. The replies do: their outputs, added up
        over the leg and over the session, are compared with the output that was told.
        A session that goes on from the last told total has that plus the leg's. Where no
        reply tells its output, totals are those that never fall, and whose requests grew
        by no more than the leg has replies; anything else is the leg's own.
*/
with
    sums as (
        select
            source,
            session_id,
            record_id,
            sum(output_tokens) as told_tokens,
            sum(requests) as requests
        from core._leg_totals
        group by all
    ),
    walked as (
        select
            legs.source,
            legs.session_id,
            legs.leg,
            legs.ended_by as record_id,
            legs.output_tokens as leg_tokens,
            legs.answers,
            sum(legs.output_tokens) over so_far as session_tokens,
            sums.told_tokens,
            sums.requests
        from core._legs as legs
        left join
            sums
            on sums.source = legs.source
            and sums.session_id = legs.session_id
            and sums.record_id = legs.ended_by
        window
            so_far as (
                partition by legs.source, legs.session_id
                order by legs.leg
                rows unbounded preceding
            )
    ),
    ends as (
        select
            *,
            lag(record_id) over walk as record_before,
            lag(leg) over walk as leg_before,
            coalesce(lag(told_tokens) over walk, 0) as told_before,
            requests - lag(requests) over walk as more_requests
        from walked
        where record_id is not null
        window walk as (partition by source, session_id order by leg)
    ),
    never_fell as (
        select
            ends.source,
            ends.session_id,
            ends.record_id,
            bool_and(
                coalesce(present.input_tokens, -1) >= coalesce(previous.input_tokens, 0)
                and coalesce(present.cache_read_tokens, 0)
                >= coalesce(previous.cache_read_tokens, 0)
                and coalesce(present.cache_write_tokens, 0)
                >= coalesce(previous.cache_write_tokens, 0)
                and coalesce(present.output_tokens, 0)
                >= coalesce(previous.output_tokens, 0)
            ) as never_fell
        from ends
        inner join
            core._leg_totals as previous
            on previous.source = ends.source
            and previous.session_id = ends.session_id
            and previous.record_id = ends.record_before
        left join
            core._leg_totals as present
            on present.source = ends.source
            and present.session_id = ends.session_id
            and present.record_id = ends.record_id
            and present.model is not distinct from previous.model
        group by all
    )

select
    ends.source,
    ends.session_id,
    ends.record_id,
    ends.leg,
    ends.leg_before,
    ends.record_before,
    if(
        ends.session_tokens > 0,
        least(
            abs(ends.told_tokens - ends.session_tokens),
            abs(ends.told_tokens - ends.told_before - ends.leg_tokens)
        )
        < abs(ends.told_tokens - ends.leg_tokens),
        coalesce(never_fell.never_fell and ends.more_requests <= ends.answers, false)
    ) as is_total,
    -- then the legs that have no end of their own are within this total
    abs(ends.told_tokens - ends.session_tokens)
    <= abs(ends.told_tokens - ends.told_before - ends.leg_tokens) as is_of_all,
    ends.told_tokens < ends.leg_tokens as is_less
from ends
left join never_fell using (source, session_id, record_id)
