/*
One row per record of a reply whose id may be that of others, with what came since the
record of this id before it.

grain   source, stream_id, generation, seq, part
why     What is later than the one before it, after its end or after what a user or a tool
        said to it, and of another prompt, is another reply, whatever its id.
        What has no output yet is no end, whatever it says.
        Most ids are long, and have one prompt and one end: they are not looked at.
*/
with
    records as (
        select
            source,
            session_id,
            stream_id,
            generation,
            seq,
            part,
            coalesce(agent_id, '') as agent_id,
            coalesce(nullif(message_id, ''), nullif(request_id, '')) as reply_key,
            nullif(request_id, '') as request_id,
            record_id,
            called_at,
            coalesce(is_final and output_tokens > 0, false) as is_final,
            coalesce(output_tokens, 0) as output_tokens,
            nullif(prompt_of(usage), 0) as prompt
        from staging.usage
        where
            kind = 'call'
            and call_part = ''
            and usage_key is null
            and coalesce(nullif(message_id, ''), nullif(request_id, '')) is not null
            and called_at is not null
    ),
    doubtful as (
        select source, reply_key
        from records
        group by all
        having
            count(distinct called_at) > 1
            and (
                count(distinct prompt) > 1
                or count(distinct called_at) filter (where is_final) > 1
                or length(reply_key) < 12
            )
    ),
    suspects as (
        select records.*
        from records
        semi join
            doubtful
            on doubtful.source = records.source
            and doubtful.reply_key = records.reply_key
    ),
    said as (
        select
            source,
            stream_id,
            generation,
            seq,
            part,
            coalesce(agent_id, '') as agent_id,
            kind = 'prompt' as is_prompt
        from staging.messages
        where
            role in ('user', 'tool')
            and stream_id in (select suspects.stream_id from suspects)
    ),
    talk as (
        from suspects
        union all by name
        from said
    ),
    walked as (
        select
            *,
            max(if(reply_key is null, seq, null)) over walk as said_seq,
            max(if(is_prompt, seq, null)) over walk as prompt_seq
        from talk
        window
            walk as (
                partition by source, stream_id, generation, agent_id order by seq, part
            )
    )

select
    *,
    coalesce(
        called_at <> lag(called_at) over walk
        and record_id is distinct from lag(record_id) over walk,
        false
    ) as is_later,
    coalesce(prompt <> lag(prompt) over walk, false) as is_other,
    coalesce(request_id, lag(request_id) over walk) is null as has_no_request,
    coalesce(request_id = lag(request_id) over walk, false) as is_same_request,
    coalesce(lag(is_final) over walk, false) as follows_end,
    coalesce(lag(output_tokens) over walk = 0, false) as follows_start,
    coalesce(said_seq > lag(seq) over walk, false) as follows_word,
    coalesce(prompt_seq > lag(seq) over walk, false) as follows_prompt
from walked
where reply_key is not null
window
    walk as (
        partition by source, stream_id, generation, agent_id, reply_key
        order by seq, part
    )
