/*
One row per end of a run segment that reports tokens: whether these are of the segment
alone or of the session so far.

grain   source, session_id, record_id
only    staging.usage where kind = 'run_segment'
why     Versions differ, and no record says it. The outputs of the replies, added up
        over the segment and over the session, are compared with the reported output.
        A session that goes on from the last reported total has that plus the segment's.
        Where no reply has an output, totals are those that never fall, and whose requests grew
        by no more than the segment has replies; anything else is the segment's own.
*/
with
    sums as (
        select
            source,
            session_id,
            record_id,
            sum(output_tokens) as reported_tokens,
            sum(requests) as requests
        from core._run_segment_totals
        group by all
    ),
    walked as (
        select
            segments.source,
            segments.session_id,
            segments.segment,
            segments.ended_by as record_id,
            segments.output_tokens as segment_tokens,
            segments.answers,
            sum(segments.output_tokens) over so_far as session_tokens,
            sums.reported_tokens,
            sums.requests
        from core._run_segments as segments
        left join
            sums
            on sums.source = segments.source
            and sums.session_id = segments.session_id
            and sums.record_id = segments.ended_by
        window
            so_far as (
                partition by segments.source, segments.session_id
                order by segments.segment
                rows unbounded preceding
            )
    ),
    ends as (
        select
            *,
            lag(record_id) over walk as record_before,
            lag(segment) over walk as segment_before,
            coalesce(lag(reported_tokens) over walk, 0) as reported_before,
            requests - lag(requests) over walk as more_requests
        from walked
        where record_id is not null
        window walk as (partition by source, session_id order by segment)
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
            core._run_segment_totals as previous
            on previous.source = ends.source
            and previous.session_id = ends.session_id
            and previous.record_id = ends.record_before
        left join
            core._run_segment_totals as present
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
    ends.segment,
    ends.segment_before,
    ends.record_before,
    if(
        ends.session_tokens > 0,
        least(
            abs(ends.reported_tokens - ends.session_tokens),
            abs(ends.reported_tokens - ends.reported_before - ends.segment_tokens)
        )
        < abs(ends.reported_tokens - ends.segment_tokens),
        coalesce(never_fell.never_fell and ends.more_requests <= ends.answers, false)
    ) as is_total,
    -- then the segments that have no end of their own are within this total
    abs(ends.reported_tokens - ends.session_tokens) <= abs(
        ends.reported_tokens - ends.reported_before - ends.segment_tokens
    ) as is_of_all,
    ends.reported_tokens < ends.segment_tokens as is_less
from ends
left join never_fell using (source, session_id, record_id)
