/*
One row per record of usage that was made with the model of its branch, with that model.

grain   source, stream_id, generation, seq
why     A compaction does not name the model that made it: it is the one that was set,
        or that answered, last on the way from there to the root of the conversation.
        The usage names in its turn where that way begins.
*/
with recursive
    needing as (
        select source, session_id, stream_id, generation, seq, turn_id
        from staging.usage
        where kind = 'call' and model is null and turn_id is not null
    ),
    entries as (
        select
            messages.source,
            messages.session_id,
            messages.record_id,
            arg_max(
                struct_pack(
                    parent_id := messages.parent_record_id, model := messages.model
                ),
                place_of(messages.generation, messages.seq)
            ) as newest
        from (select distinct source, session_id from needing) as sessions
        inner join
            staging.messages as messages
            on messages.source = sessions.source
            and messages.session_id = sessions.session_id
        where messages.record_id is not null
        group by all
    ),
    way as (
        select *, turn_id as record_id, cast(null as varchar) as model, 0 as steps
        from needing
        union all
        select
            way.source,
            way.session_id,
            way.stream_id,
            way.generation,
            way.seq,
            way.turn_id,
            entries.newest.parent_id as record_id,
            entries.newest.model as model,
            way.steps + 1 as steps
        from way
        inner join
            entries
            on entries.source = way.source
            and entries.session_id = way.session_id
            and entries.record_id = way.record_id
        -- a damaged tree may be a ring
        where way.model is null and way.steps < 10000
    )

select source, stream_id, generation, seq, model
from way
where model is not null
