/*
One row per stream whose first running totals are those of another thread.

grain   source, stream_id, generation
why     Old versions have no turn ids and, on resume, not even the parent's name: the
        copied history shows only in its totals. With a named parent one equal
        total is enough; without, two are asked for, of an older thread.
*/
with
    changes as (
        select source, session_id, stream_id, generation, seq, called_at, counter
        from staging.usage
        where counter is not null
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
            ) as place,
            lead(counter) over (
                partition by source, stream_id, generation order by seq
            ) as next_counter
        from changes
    ),
    pairs as (
        select
            heads.source, heads.stream_id, heads.generation, other.stream_id as like_id
        from core._thread_heads as heads
        inner join
            totals as own
            on own.source = heads.source
            and own.stream_id = heads.stream_id
            and own.generation = heads.generation
            and own.place = 1
        inner join
            totals as other
            on other.source = own.source
            and other.place = 1
            and other.counter = own.counter
            and other.session_id <> own.session_id
        where
            not heads.has_turn_ids
            and heads.replay_base is null
            and case
                when heads.parent_session_id is not null
                then other.session_id = heads.parent_session_id and heads.has_copy
                else
                    not heads.has_own_turn_ids
                    and other.next_counter = own.next_counter
                    and (other.called_at, other.session_id)
                    < (own.called_at, own.session_id)
            end
    ),
    equal as (
        select
            pairs.source,
            pairs.stream_id,
            pairs.generation,
            pairs.like_id,
            own.seq,
            own.place,
            row_number() over (
                partition by
                    pairs.source, pairs.stream_id, pairs.generation, pairs.like_id
                order by own.place
            ) as nth
        from pairs
        inner join
            totals as own
            on own.source = pairs.source
            and own.stream_id = pairs.stream_id
            and own.generation = pairs.generation
        inner join
            totals as other
            on other.source = pairs.source
            and other.stream_id = pairs.like_id
            and other.place = own.place
            and other.counter = own.counter
    )

select source, stream_id, generation, max(seq) + 1 as own_from_seq
from equal
where place = nth
group by all
