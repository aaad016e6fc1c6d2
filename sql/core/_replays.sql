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
    records as (
        select source, stream_id, generation, seq, ordinal, sent_at as at
        from staging.messages
        union all
        select source, stream_id, generation, seq, ordinal, began_at
        from staging.turns
        union all
        select source, stream_id, generation, seq, ordinal, called_at
        from staging.usage
    ),
    by_ordinal as (
        select heads.source, heads.stream_id, heads.generation, min(seq) as own_from_seq
        from core._thread_heads as heads
        inner join
            records
            on records.source = heads.source
            and records.stream_id = heads.stream_id
            and records.generation = heads.generation
            and records.ordinal >= heads.own_from_ordinal
        group by all
    ),
    by_turns as (
        select
            heads.source,
            heads.stream_id,
            heads.generation,
            min(turns.seq) filter (where theirs.turn_id is null) as own_from_seq,
            count(theirs.turn_id) as shared
        from core._thread_heads as heads
        inner join
            staging.turns as turns
            on turns.source = heads.source
            and turns.stream_id = heads.stream_id
            and turns.generation = heads.generation
            and turns.turn_id is not null
            and turns.kind in ('context', 'started')
        left join
            (select distinct source, session_id, turn_id from staging.turns) as theirs
            on theirs.source = heads.source
            and theirs.session_id = heads.parent_session_id
            and theirs.turn_id = turns.turn_id
        where heads.has_turn_ids
        group by all
    ),
    by_burst as (
        select heads.source, heads.stream_id, heads.generation, min(seq) as own_from_seq
        from core._thread_heads as heads
        inner join
            records
            on records.source = heads.source
            and records.stream_id = heads.stream_id
            and records.generation = heads.generation
            and records.at > heads.head_at + interval 1 second
        where heads.has_copy and not heads.parent_is_here
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
        when runs.own_from_seq is not null
        then 'totals'
        else 'burst'
    end as rule,
    coalesce(
        case
            when heads.own_from_ordinal is not null
            then by_ordinal.own_from_seq
            when heads.has_turn_ids
            then by_turns.own_from_seq
            else coalesce(runs.own_from_seq, by_burst.own_from_seq)
        end,
        9223372036854775807
    ) as own_from_seq
from core._thread_heads as heads
left join by_ordinal using (source, stream_id, generation)
left join by_turns using (source, stream_id, generation)
left join core._replay_runs as runs using (source, stream_id, generation)
left join by_burst using (source, stream_id, generation)
where
    heads.replay_base is null
    and (
        heads.own_from_ordinal is not null
        or by_turns.shared > 0
        or runs.own_from_seq is not null
        or (
            heads.parent_session_id is not null
            and heads.has_copy
            and not heads.parent_is_here
        )
    )
