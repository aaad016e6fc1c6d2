/*
One row per segment of a session: what one run of the program did between its start and
its end, or until the next run began, if it crashed.

grain   source, session_id, segment
only    staging.usage where kind in ('run_segment', 'reply_output')
why     Some formats report tokens only when a run ends, and the next run goes on with
        the session. So a segment begins with each start of a run and after each end of
        one. Records that lie in two files, or are read again after a rewrite, are one
        event. What made a summary is no output of the segment: whether the segment's
        end reports it is not known.
*/
with
    ends as (
        select
            source,
            session_id,
            record_id,
            min(happened_at) as happened_at,
            min(place_of(bill.generation, bill.seq)) as place
        from core._run_segment_totals
        group by all
    ),
    replies as (
        select
            source,
            session_id,
            usage_key,
            min(called_at) as happened_at,
            min(place_of(generation, seq)) as place,
            max(output_tokens) filter (where input_tokens is null) as output_tokens
        from staging.usage
        where kind = 'reply_output'
        group by all
    ),
    answers as (
        select
            messages.source,
            messages.session_id,
            messages.message_id,
            min(messages.sent_at) as happened_at,
            min(place_of(messages.generation, messages.seq)) as place
        from staging.messages as messages
        semi join ends using (source, session_id)
        where messages.kind = 'response'
        group by all
    ),
    events as (
        select distinct
            source,
            session_id,
            'start' as mark,
            null as record_id,
            began_at as happened_at,
            place_of(generation, seq) as place,
            null as output_tokens
        from staging.turns
        where kind = 'run'
        union all by name
        select source, session_id, 'end' as mark, record_id, happened_at, place
        from ends
        union all by name
        select source, session_id, 'reply' as mark, happened_at, place, output_tokens
        from replies
        union all by name
        select source, session_id, 'answer' as mark, happened_at, place
        from answers
    ),
    numbered as (
        select
            *,
            count(*) filter (where mark in ('start', 'end')) over so_far
            - if(mark = 'end', 1, 0) as segment
        from events
        window
            so_far as (
                partition by source, session_id
                order by
                    coalesce(happened_at, timestamptz 'infinity'),
                    place,
                    mark,
                    record_id
                rows unbounded preceding
            )
    )

select
    source,
    session_id,
    segment,
    min(happened_at) as began_at,
    max(record_id) as ended_by,
    cast(coalesce(sum(output_tokens), 0) as bigint) as output_tokens,
    count(*) filter (where mark = 'answer') as answers
from numbered
group by all
