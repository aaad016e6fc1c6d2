/*
One row per stream whose beginning repeats another session: records from head_seq on
and before own_from_seq are copies.

grain   source, stream_id, generation
columns rule (base | ordinal | turns | totals | orphan)  Which rule said where its own records begin.
why     A forked or spawned thread begins with a copy of its parent's history, stamped
        with the time of the fork, running totals included. The first rule that
        applies says where its own records begin:
        base     it refers to the other thread instead: nothing is copied;
        ordinal  its header says from which ordinal on it is its own;
        turns    the first turn that the parent does not have;
        totals   its totals are the parent's, or another thread's, up to there: see
                 core._replay_runs; neither turn nor total shared: nothing was copied;
        orphan   the parent is not here: see core._orphan_replays.
*/
with
    heads as (select * from core._thread_heads where replay_base is null),
    records as (
        select source, stream_id, generation, seq, ordinal
        from staging.messages
        where ordinal is not null
        union all
        select source, stream_id, generation, seq, ordinal
        from staging.turns
        where ordinal is not null
        union all
        select source, stream_id, generation, seq, ordinal
        from staging.usage
        where ordinal is not null
    ),
    by_ordinal as (
        select
            heads.source,
            heads.stream_id,
            heads.generation,
            min(records.seq) filter (
                where records.ordinal >= heads.own_from_ordinal
            ) as own_from_seq
        from heads
        inner join
            records
            on records.source = heads.source
            and records.stream_id = heads.stream_id
            and records.generation = heads.generation
        where heads.own_from_ordinal is not null
        group by all
    ),
    by_totals as (
        select source, stream_id, generation, max(own_from_seq) as own_from_seq
        from core._replay_runs
        group by all
    ),
    known_turns as (select distinct source, session_id, turn_id from staging.turns),
    by_turn as (
        select
            heads.source,
            heads.stream_id,
            heads.generation,
            min(own.seq) filter (where theirs.turn_id is null) as own_from_seq
        from heads
        inner join
            staging.turns as own
            on own.source = heads.source
            and own.stream_id = heads.stream_id
            and own.generation = heads.generation
        left join
            known_turns as theirs
            on theirs.source = heads.source
            and theirs.session_id = heads.parent_session_id
            and theirs.turn_id = own.turn_id
        where
            heads.has_turn_ids
            and own.turn_id is not null
            and own.kind in ('context', 'started')
        group by all
        having count(theirs.turn_id) > 0
    )

select
    heads.source,
    heads.stream_id,
    heads.generation,
    heads.head_seq,
    heads.parent_session_id,
    case
        when heads.own_from_ordinal is not null
        then 'ordinal'
        when by_turn.source is not null
        then 'turns'
        when by_totals.source is not null
        then 'totals'
        else 'orphan'
    end as rule,
    coalesce(
        case
            rule
            when 'ordinal'
            then by_ordinal.own_from_seq
            when 'turns'
            then by_turn.own_from_seq
            when 'totals'
            then by_totals.own_from_seq
            else orphans.own_from_seq
        end,
        9223372036854775807
    ) as own_from_seq
from heads
left join by_ordinal using (source, stream_id, generation)
left join by_turn using (source, stream_id, generation)
left join by_totals using (source, stream_id, generation)
left join core._orphan_replays as orphans using (source, stream_id, generation)
where
    heads.own_from_ordinal is not null
    or by_turn.source is not null
    or by_totals.source is not null
    or orphans.source is not null
