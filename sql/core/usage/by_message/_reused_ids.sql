/*
One row per record of a reply whose id others have too, with what tells it apart from them:
the microsecond since 1970 at which it began.

grain   source, stream_id, generation, seq, reply_key
key     source, session_id
why     A gateway may give all replies one id. A copy keeps the time of its original; so
        what was written at another time is another reply, if it came after the end of
        the one before it, or after what a user or a tool said to it, with another
        prompt; a record without any output, of a reply that goes on, tells no end of
        it. No short id is unique, so a prompt between two is enough there. Records
        of one reply may stand on both sides of a tool's result, with the
        same prompt, or tell it only in the end.
*/
with
    breaks as (
        select
            *,
            is_later
            and (
                (
                    is_other
                    and if(
                        follows_word,
                        follows_end or (has_no_request and not follows_start),
                        follows_end and not is_same_request
                    )
                )
                or (follows_prompt and (follows_end or length(reply_key) < 12))
            ) as is_proof,
            is_proof
            or (
                is_later and follows_word and (prompt is null or follows_end)
            ) as is_break
        from core._reply_steps
    ),
    numbered as (
        select
            *,
            count(*) filter (where is_break) over (
                partition by source, stream_id, generation, agent_id, reply_key
                order by seq, part
            ) as nth
        from breaks
    ),
    replies as (
        select
            source,
            reply_key,
            stream_id,
            generation,
            agent_id,
            nth,
            min(called_at) as began_at,
            max(called_at) as ended_at,
            min(record_id) as record_id,
            min(request_id) as request_id,
            arg_max(prompt, (output_tokens, seq)) as prompt
        from numbered
        group by all
    ),
    apart as (
        -- in other files: replies of other times, prompts and requests
        select distinct one.source, one.reply_key
        from replies as one
        inner join
            replies as other
            on other.source = one.source
            and other.reply_key = one.reply_key
            and other.began_at > one.ended_at
            and other.stream_id <> one.stream_id
            and other.record_id is distinct from one.record_id
        where
            (other.prompt <> one.prompt or length(one.reply_key) < 12)
            and coalesce(other.request_id <> one.request_id, true)
    ),
    reused as (
        select source, reply_key
        from breaks
        where is_proof
        union
        select source, reply_key
        from apart
    )

select
    numbered.source,
    numbered.session_id,
    numbered.stream_id,
    numbered.generation,
    numbered.seq,
    numbered.reply_key,
    min(epoch_us(replies.began_at)) as began_us
from numbered
inner join
    reused on reused.source = numbered.source and reused.reply_key = numbered.reply_key
inner join
    replies
    on replies.source = numbered.source
    and replies.reply_key = numbered.reply_key
    and replies.stream_id = numbered.stream_id
    and replies.generation = numbered.generation
    and replies.agent_id = numbered.agent_id
    and replies.nth = numbered.nth
group by all
