/*
One row per stream whose first running totals are those of another thread, and thread.

grain   source, stream_id, generation, like_session_id
why     Old versions have no turn ids and, on resume, not even the parent's name: the
        copied history shows only in its totals. With a named parent one equal
        total is enough; without, two are asked for, of an older thread.
*/
with
    firsts as (
        select
            source,
            stream_id,
            generation,
            arg_min(session_id, seq) as session_id,
            arg_min(counter, seq) as counter,
            arg_min(coalesce(called_at, timestamptz 'infinity'), seq) as called_at
        from staging.usage
        where counter is not null
        group by all
    ),
    pairs as (
        select
            heads.source,
            heads.session_id,
            heads.stream_id,
            heads.generation,
            theirs.session_id as like_session_id,
            theirs.stream_id as like_id,
            theirs.generation as like_generation,
            if(heads.parent_session_id is null, 2, 1) as asked_for
        from core._thread_heads as heads
        inner join
            firsts as own
            on own.source = heads.source
            and own.stream_id = heads.stream_id
            and own.generation = heads.generation
        inner join
            firsts as theirs
            on theirs.source = own.source
            and theirs.counter = own.counter
            and theirs.session_id <> own.session_id
        where
            not heads.has_turn_ids
            and heads.replay_base is null
            and case
                when heads.parent_session_id is not null
                then theirs.session_id = heads.parent_session_id and heads.has_copy
                else
                    not heads.has_own_turn_ids
                    and (theirs.called_at, theirs.session_id)
                    < (own.called_at, own.session_id)
            end
    ),
    changes as (
        select source, stream_id, generation, seq, counter
        from staging.usage
        where
            counter is not null
            and (
                stream_id in (select pairs.stream_id from pairs)
                or stream_id in (select pairs.like_id from pairs)
            )
        qualify
            counter is distinct from lag(counter) over (
                partition by source, stream_id, generation order by seq
            )
    ),
    totals as (
        select
            *,
            row_number() over (
                partition by source, stream_id, generation order by seq
            ) as place
        from changes
    ),
    runs as (
        select
            pairs.*,
            own.seq,
            own.place,
            row_number() over (
                partition by
                    pairs.source,
                    pairs.stream_id,
                    pairs.generation,
                    pairs.like_id,
                    pairs.like_generation
                order by own.place
            ) as nth
        from pairs
        inner join
            totals as own
            on own.source = pairs.source
            and own.stream_id = pairs.stream_id
            and own.generation = pairs.generation
        inner join
            totals as theirs
            on theirs.source = pairs.source
            and theirs.stream_id = pairs.like_id
            and theirs.generation = pairs.like_generation
            and theirs.place = own.place
            and theirs.counter = own.counter
    )

select
    source,
    session_id,
    stream_id,
    generation,
    like_session_id,
    max(seq) + 1 as own_from_seq
from runs
where place = nth
group by all
having max(place) >= max(asked_for)
