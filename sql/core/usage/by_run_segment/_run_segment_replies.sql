/*
One row per record that tells the output of a reply; dropped_by says why it is no usage
of its own, null that it is.

grain   source, stream_id, generation, seq, part
only    staging.usage where kind = 'reply_output'
why     What the end of a segment reports has its replies in it, and so has the next
        total of all segments. A segment without an end crashed, or still runs: the
        outputs of its replies are all there is, and their input is unknown, but for those that made a
        summary. Pieces of one reply each repeat its output as far as it was known: the
        largest counts. A call of an unknown model may be any of its segment's replies.
*/
with
    covered as (
        select
            source,
            session_id,
            segment,
            list(distinct spelling) as spellings,
            bool_or(spelling is null) as is_any
        from core._run_segment_places
        where kind = 'call'
        group by all
    ),
    replies as (
        select
            source,
            session_id,
            usage_key,
            arg_max(
                (stream_id, generation, seq, part),
                (output_tokens, - generation, - seq, - stream_id, - part)
            ) as bill,
            min(segment) as segment,
            min(called_at) as first_at,
            count(*) - 1 as copies
        from core._run_segment_places
        where kind = 'reply_output'
        group by all
    ),
    later as (
        select
            replies.source,
            replies.session_id,
            replies.usage_key,
            arg_min(ends.is_total and ends.is_of_all, ends.segment) as is_in_total
        from replies
        inner join
            core._run_segment_ends as ends
            on ends.source = replies.source
            and ends.session_id = replies.session_id
            and ends.segment > replies.segment
        group by all
    )

select
    placed.source,
    placed.stream_id,
    placed.generation,
    placed.seq,
    placed.part,
    placed.usage_key as usage_id,
    placed.session_id,
    placed.agent_id,
    placed.message_id,
    placed.provider,
    placed.model,
    replies.first_at as called_at,
    placed.input_tokens,
    placed.cache_read_tokens,
    placed.cache_write_tokens,
    placed.output_tokens,
    'call' as granularity,
    'tokens' as unit,
    placed.input_tokens is null as is_estimated,
    replies.copies,
    case
        when
            (placed.stream_id, placed.generation, placed.seq, placed.part)
            <> replies.bill
        then 'same_reply'
        when placed.ended_by is not null
        then 'in_run_segment'
        when later.is_in_total
        then 'in_later_total'
        when
            covered.is_any
            or placed.spelling is null
            and covered.segment is not null
            or list_contains(covered.spellings, placed.spelling)
        then 'calls_count'
    end as dropped_by
from core._run_segment_places as placed
inner join
    replies
    on replies.source = placed.source
    and replies.session_id = placed.session_id
    and replies.usage_key = placed.usage_key
left join
    later
    on later.source = placed.source
    and later.session_id = placed.session_id
    and later.usage_key = placed.usage_key
left join
    covered
    on covered.source = placed.source
    and covered.session_id = placed.session_id
    and covered.segment = placed.segment
where placed.kind = 'reply_output'
