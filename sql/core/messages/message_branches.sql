/*
One row per message of a conversation that is a tree: where it stands in it.

grain   source, session_id, message_id
checks  not_null(depth, is_active)
why     Going back and asking anew leaves both branches in the session. The active one
        leads to the last record; in the order of its depth it is the transcript. Most
        records follow the one before them, so the ways are walked run by run, not
        record by record.
*/
with recursive
    records as (
        select
            source,
            session_id,
            record_id,
            arg_max(
                struct_pack(
                    message_id := message_id,
                    parent_id := parent_record_id,
                    seq := seq,
                    sent_at := sent_at
                ),
                (generation, seq, stream_id)
            ) as newest
        from staging.messages
        where in_tree and record_id is not null
        group by all
    ),
    placed as (
        select
            source,
            session_id,
            record_id,
            newest.message_id as message_id,
            newest.parent_id as parent_id,
            row_number() over places as place,
            coalesce(newest.parent_id <> lag(record_id) over places, true) as begins_run
        from records
        window
            places as (
                partition by source, session_id
                order by newest.seq, newest.sent_at, record_id
            )
    ),
    members as (
        select
            *,
            max(if(begins_run, place, null)) over (
                partition by source, session_id order by place
            ) as run
        from placed
    ),
    runs as (
        select
            opening.source,
            opening.session_id,
            opening.run,
            above.run as above_run,
            above.place as above_place
        from members as opening
        left join
            members as above
            on above.source = opening.source
            and above.session_id = opening.session_id
            and above.record_id = opening.parent_id
            -- what comes later is no parent: the tree is damaged there
            and above.place < opening.place
        where opening.begins_run
    ),
    depths as (
        select source, session_id, run, 0 as above_depth
        from runs
        where above_run is null
        union all
        select
            runs.source,
            runs.session_id,
            runs.run,
            depths.above_depth + runs.above_place - runs.above_run + 1 as above_depth
        from depths
        inner join
            runs
            on runs.source = depths.source
            and runs.session_id = depths.session_id
            and runs.above_run = depths.run
    ),
    active as (
        select source, session_id, arg_max(run, place) as run, max(place) as last_place
        from members
        group by all
        union all
        select
            active.source,
            active.session_id,
            runs.above_run as run,
            runs.above_place as last_place
        from active
        inner join
            runs
            on runs.source = active.source
            and runs.session_id = active.session_id
            and runs.run = active.run
        where runs.above_run is not null
    )

select
    members.source,
    members.session_id,
    members.message_id,
    depths.above_depth + members.place - members.run as depth,
    coalesce(members.place <= active.last_place, false) as is_active
from members
inner join
    depths
    on depths.source = members.source
    and depths.session_id = members.session_id
    and depths.run = members.run
left join
    active
    on active.source = members.source
    and active.session_id = members.session_id
    and active.run = members.run
