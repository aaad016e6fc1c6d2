/*
One row per stream whose first running totals are those of another thread, and thread.

grain   source, stream_id, generation, like_session_id
why     Where copied turns have no ids, the copied history shows only in its totals. It
        ends before the first turn that has an id. Where the header tells of a copy, one
        equal total is enough; else two are asked for, and without a named parent (old
        versions, on resume) of an older thread.
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
    named_turns as (
        select source, stream_id, generation, min(seq) as first_seq
        from staging.turns
        where turn_id is not null
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
            if(
                heads.parent_session_id is null or not heads.has_copy, 2, 1
            ) as asked_for,
            coalesce(named_turns.first_seq, 9223372036854775807) as before_seq
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
        left join
            named_turns
            on named_turns.source = heads.source
            and named_turns.stream_id = heads.stream_id
            and named_turns.generation = heads.generation
        where
            heads.replay_base is null
            and case
                when heads.parent_session_id is not null
                then theirs.session_id = heads.parent_session_id
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
            and own.seq < pairs.before_seq
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
