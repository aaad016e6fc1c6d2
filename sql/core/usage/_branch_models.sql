/*
One row per record of usage that names its turn instead of its model, with the model.

grain   source, stream_id, generation, seq, part
only    staging.usage where kind = 'call' and turn_id is not null
why     A compaction does not name the model that made it, nor do some replies: it is
        the one that was set, or that answered, last on the way from there to the root
        of the conversation; its turn is the record where that way begins. Where no way
        leads to one, it is the last before it in its stream. Elsewhere a turn is set
        in the stream, the last time before the call, or once in a file of its own.
*/
with recursive
    needing as (
        select
            source,
            session_id,
            stream_id,
            generation,
            seq,
            part,
            turn_id,
            place_of(generation, seq) as place
        from staging.usage
        where
            kind = 'call'
            and turn_id is not null
            -- a model that is its own turn is a name for another one
            and (model is null or model = turn_id)
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
                (messages.generation, messages.seq, messages.stream_id)
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
        select
            * exclude (place),
            turn_id as record_id,
            cast(null as varchar) as model,
            0 as steps
        from needing
        union all
        select
            way.source,
            way.session_id,
            way.stream_id,
            way.generation,
            way.seq,
            way.part,
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
    ),
    turns as (
        select
            source,
            session_id,
            turn_id,
            arg_max(model, (generation, seq, stream_id)) as model
        from staging.turns
        where model is not null and turn_id is not null
        group by all
    ),
    turned as (
        select
            source,
            session_id,
            stream_id,
            turn_id,
            model,
            place_of(generation, seq) as place
        from staging.turns
        where model is not null and turn_id is not null
    ),
    set_before as (
        select source, session_id, stream_id, model, place_of(generation, seq) as place
        from staging.messages
        where source in ('oh_my_pi', 'openclaw', 'pi') and model is not null
    )

select
    needing.source,
    needing.stream_id,
    needing.generation,
    needing.seq,
    needing.part,
    coalesce(way.model, turned.model, turns.model, set_before.model) as model
from needing
left join
    way
    on way.source = needing.source
    and way.stream_id = needing.stream_id
    and way.generation = needing.generation
    and way.seq = needing.seq
    and way.part = needing.part
    and way.model is not null
left join
    turns
    on turns.source = needing.source
    and turns.session_id = needing.session_id
    and turns.turn_id = needing.turn_id
asof left join
    turned
    on turned.source = needing.source
    and turned.session_id = needing.session_id
    and turned.stream_id = needing.stream_id
    and turned.turn_id = needing.turn_id
    and turned.place <= needing.place
asof left join
    set_before
    on set_before.source = needing.source
    and set_before.session_id = needing.session_id
    and set_before.stream_id = needing.stream_id
    and set_before.place < needing.place
where coalesce(way.model, turned.model, turns.model, set_before.model) is not null
