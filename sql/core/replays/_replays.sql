/*
One row per stream whose beginning repeats another session: records from head_seq on
and before own_from_seq are copies.

grain   source, stream_id, generation
why     A forked or spawned thread begins with a copy of its parent's history, stamped
        with the time of the fork, running totals included. The first rule that
        applies says where its own records begin:
        base     it refers to the other thread instead: nothing is copied;
        ordinal  its header says from which ordinal on it is its own;
        turns    the first turn that the parent does not have; no turn shared:
                 nothing was copied;
        totals   no turn ids: see core._replay_runs;
        burst    the parent is not here: what was written within a second.
*/
with
    heads as (
        select *, has_copy and not parent_is_here as is_orphan
        from core._thread_heads
        where replay_base is null
    ),
    records as (
        select source, stream_id, generation, seq, ordinal, sent_at as written_at
        from staging.messages
        union all
        select source, stream_id, generation, seq, ordinal, began_at as written_at
        from staging.turns
        union all
        select source, stream_id, generation, seq, ordinal, called_at as written_at
        from staging.usage
    ),
    by_record as (
        select
            heads.source,
            heads.stream_id,
            heads.generation,
            min(records.seq) filter (
                where records.ordinal >= heads.own_from_ordinal
            ) as from_ordinal,
            min(records.seq) filter (
                where records.written_at > heads.head_at + interval 1 second
            ) as after_burst
        from heads
        inner join
            records
            on records.source = heads.source
            and records.stream_id = heads.stream_id
            and records.generation = heads.generation
        where heads.own_from_ordinal is not null or heads.is_orphan
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
            min(own.seq) filter (where theirs.turn_id is null) as own_from_seq,
            count(theirs.turn_id) as shared
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
        when heads.has_turn_ids
        then 'turns'
        when by_totals.own_from_seq is not null
        then 'totals'
        else 'burst'
    end as rule,
    coalesce(
        case
            when heads.own_from_ordinal is not null
            then by_record.from_ordinal
            when heads.has_turn_ids
            then by_turn.own_from_seq
            else
                coalesce(
                    by_totals.own_from_seq,
                    if(heads.is_orphan, by_record.after_burst, null)
                )
        end,
        9223372036854775807
    ) as own_from_seq
from heads
left join by_record using (source, stream_id, generation)
left join by_turn using (source, stream_id, generation)
left join by_totals using (source, stream_id, generation)
where
    heads.own_from_ordinal is not null
    or by_turn.shared > 0
    or by_totals.own_from_seq is not null
    or (heads.parent_session_id is not null and heads.is_orphan)
