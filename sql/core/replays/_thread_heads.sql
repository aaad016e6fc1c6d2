/*
One row per stream that begins with the header of a thread.

grain   source, stream_id, generation
why     Whether a thread may begin with copied history shows in its header: it names
        a parent, or the headers of its ancestors were copied after it. The header
        was written some time after the thread was born.
*/
with
    turned as (
        select source, session_id, count(turn_id) > 0 as has_turn_ids
        from staging.turns
        group by all
    ),
    headers as (
        select
            source,
            session_id,
            stream_id,
            generation,
            min(seq) as head_seq,
            min(started_at) as head_at,
            arg_min(parent_session_id, seq) as parent_session_id,
            arg_min(replay_base, seq) as replay_base,
            arg_min(own_from_ordinal, seq) as own_from_ordinal,
            coalesce(arg_min(relation, seq) = 'fork', false) as is_fork
        from staging.sessions
        where is_header
        group by all
    ),
    written as (
        select source, stream_id, generation, seq, min(linked_at) as written_at
        from staging.links
        where relation in ('fork', 'subagent')
        group by all
    ),
    copied as (
        select
            source,
            stream_id,
            generation,
            arg_min(parent_session_id, seq) as parent_session_id
        from staging.links
        where relation = 'copied'
        group by all
    )

select
    headers.source,
    headers.session_id,
    headers.stream_id,
    headers.generation,
    headers.head_seq,
    headers.head_at,
    greatest(headers.head_at, written.written_at) as written_at,
    coalesce(headers.parent_session_id, copied.parent_session_id) as parent_session_id,
    headers.replay_base,
    headers.own_from_ordinal,
    headers.is_fork or copied.stream_id is not null as has_copy,
    parents.session_id is not null as parent_is_here,
    has_copy
    and not parent_is_here
    and headers.replay_base is null
    and headers.own_from_ordinal is null as is_orphan,
    coalesce(own.has_turn_ids, false) as has_own_turn_ids,
    coalesce(own.has_turn_ids and parents.has_turn_ids, false) as has_turn_ids
from headers
left join
    written
    on written.source = headers.source
    and written.stream_id = headers.stream_id
    and written.generation = headers.generation
    and written.seq = headers.head_seq
left join
    copied
    on copied.source = headers.source
    and copied.stream_id = headers.stream_id
    and copied.generation = headers.generation
left join
    turned as parents
    on parents.source = headers.source
    and parents.session_id
    = coalesce(headers.parent_session_id, copied.parent_session_id)
left join
    turned as own on own.source = headers.source and own.session_id = headers.session_id
