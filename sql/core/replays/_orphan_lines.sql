/*
One row per line of a stream that begins with a copy of a thread that is not here.

grain   source, stream_id, generation, seq
why     What a line does in its turn, and how long after the line before it was written.
        A copy may keep the time of its original: it was written after the header.
*/
with
    orphans as (select * from core._thread_heads where is_orphan),
    records as (
        select
            source,
            stream_id,
            generation,
            seq,
            sent_at as moment,
            if(role = 'assistant', null, 'said') as does,
            null as turn_id
        from staging.messages
        union all by name
        select
            source,
            stream_id,
            generation,
            seq,
            began_at as moment,
            kind as does,
            turn_id
        from staging.turns
        union all by name
        select source, stream_id, generation, seq, called_at as moment, 'ended' as does
        from staging.usage
        union all by name
        select source, stream_id, generation, seq, called_at as moment
        from staging.tool_calls
    ),
    lines as (
        select
            orphans.source,
            orphans.session_id,
            orphans.stream_id,
            orphans.generation,
            records.seq,
            orphans.head_at,
            any_value(orphans.written_at) as header_at,
            max(greatest(records.moment, orphans.written_at)) as written_at,
            any_value(records.turn_id) as turn_id,
            bool_or(records.does = 'started') as is_start,
            bool_or(records.does = 'context') as is_context,
            bool_or(records.does = 'ended') as is_end,
            bool_or(records.does <> 'ended') as is_beginning
        from orphans
        inner join
            records
            on records.source = orphans.source
            and records.stream_id = orphans.stream_id
            and records.generation = orphans.generation
        where records.seq > orphans.head_seq
        group by all
    )

select
    source,
    session_id,
    stream_id,
    generation,
    seq,
    head_at,
    if(is_start or is_context, turn_id, null) as turn_id,
    coalesce(is_start, false) as is_start,
    coalesce(is_context, false) as is_context,
    coalesce(is_end, false) as is_end,
    coalesce(is_beginning, false) as is_beginning,
    written_at - coalesce(
        lag(written_at) over (partition by source, stream_id, generation order by seq),
        header_at
    ) as pause
from lines
