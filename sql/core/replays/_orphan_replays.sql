/*
One row per stream that begins with a copy of a thread that is not here, with the record
from which on it is its own; null: all of it is the copy.

grain   source, stream_id, generation
why     Without the parent, the copy shows in what cannot be the thread's own:
        born     turns whose ids tell a time (UUIDv7) before the thread was born;
        shared   turns that an ancestor or another fork of the same parent has too;
        burst    what was written in one go with the header: all before the first
                 pause of more than a second. A turn that began before the pause and
                 has neither an answer nor an end there is the thread's own: a
                 spawned agent starts at once, its model answers later.
*/
with
    pauses as (
        select source, stream_id, generation, min(seq) as pause_seq
        from core._orphan_lines
        where pause > interval 1 second
        group by all
    ),
    bursts as (
        select
            written.*,
            pauses.pause_seq,
            max(
                if(
                    written.is_end and written.seq is distinct from pauses.pause_seq,
                    written.seq,
                    0
                )
            ) over (partition by written.source, written.stream_id, written.generation)
            as done_seq
        from core._orphan_lines as written
        left join
            pauses
            on pauses.source = written.source
            and pauses.stream_id = written.stream_id
            and pauses.generation = written.generation
        where written.seq <= coalesce(pauses.pause_seq, written.seq)
    ),
    by_burst as (
        select
            source,
            stream_id,
            generation,
            coalesce(
                min(seq) filter (where seq = pause_seq and is_beginning),
                max(seq) filter (where seq > done_seq and is_start),
                max(seq) filter (where seq > done_seq and is_context),
                any_value(pause_seq)
            ) as own_from_seq
        from bursts
        group by all
    ),
    relatives as (
        select one.source, one.session_id, other.session_id as other_id
        from core._thread_heads as one
        inner join
            core._thread_heads as other
            on other.source = one.source
            and other.parent_session_id = one.parent_session_id
            and other.session_id <> one.session_id
        where one.is_orphan and other.is_orphan
        union
        select source, session_id, ancestor_id as other_id
        from core._ancestors
    ),
    theirs as (
        select relatives.source, relatives.session_id, turns.turn_id
        from relatives
        inner join
            staging.turns as turns
            on turns.source = relatives.source
            and turns.session_id = relatives.other_id
        where turns.turn_id is not null
        group by all
    ),
    turns as (
        select
            written.source,
            written.stream_id,
            written.generation,
            written.seq,
            uuid_ms(written.turn_id) >= epoch_ms(written.head_at) as is_younger,
            max(if(theirs.turn_id is null, 0, written.seq)) over (
                partition by written.source, written.stream_id, written.generation
            ) as shared_seq
        from core._orphan_lines as written
        left join
            theirs
            on theirs.source = written.source
            and theirs.session_id = written.session_id
            and theirs.turn_id = written.turn_id
        where written.turn_id is not null
    ),
    by_turn as (
        select
            source,
            stream_id,
            generation,
            min(seq) filter (where is_younger) as younger_seq,
            max(shared_seq) > 0 as is_shared,
            min(seq) filter (where seq > shared_seq) as after_shared_seq
        from turns
        group by all
    )

select
    by_burst.source,
    by_burst.stream_id,
    by_burst.generation,
    case
        when by_turn.younger_seq is not null
        then by_turn.younger_seq
        when by_turn.is_shared and by_turn.after_shared_seq is null
        then null
        when by_turn.is_shared and by_burst.own_from_seq is not null
        then greatest(by_burst.own_from_seq, by_turn.after_shared_seq)
        else by_burst.own_from_seq
    end as own_from_seq
from by_burst
left join
    by_turn
    on by_turn.source = by_burst.source
    and by_turn.stream_id = by_burst.stream_id
    and by_turn.generation = by_burst.generation
