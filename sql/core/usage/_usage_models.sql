/*
One row per record of usage that does not name its model, with the model that was set,
and the service tier.

grain   source, stream_id, generation, seq, part
only    staging.usage where model is null or model = turn_id
why     The first of these that has one:
        tree    what was set or answered last on the way from the record's turn to the
                root of the conversation: a compaction, for one, names no model;
        turn    the last setting of its own turn before it, else the newest one of it;
        above   where no way in a tree leads to one, the last before it in its stream;
        stream  the last setting before it in its stream, else the first after it;
        time    of a call or a turn in a format that keeps its settings in files beside
                them: a change is written before a call or right after it began,
                so one that comes before the next call holds, else the first after.
        A tier holds in its stream until another is named, on copied parts too.
*/
with recursive
    needing as (
        select *, place_of(generation, seq) as place
        from staging.usage
        -- a model that is its own turn is a name for another one
        where model is null or (kind = 'call' and model = turn_id)
    ),
    turned as (select * from needing where kind = 'call' and turn_id is not null),
    settings as (
        select *, place_of(generation, seq) as place
        from staging.turns
        where model is not null
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
        from staging.messages as messages
        semi join
            turned
            on turned.source = messages.source
            and turned.session_id = messages.session_id
        where messages.record_id is not null
        group by all
    ),
    way as (
        select
            source,
            session_id,
            stream_id,
            generation,
            seq,
            part,
            turn_id as record_id,
            cast(null as varchar) as model,
            0 as steps
        from turned
        union all
        select
            way.source,
            way.session_id,
            way.stream_id,
            way.generation,
            way.seq,
            way.part,
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
    by_tree as (
        select source, stream_id, generation, seq, part, model
        from way
        where model is not null
    ),
    in_tree as (
        select source, session_id, stream_id, model, place_of(generation, seq) as place
        from staging.messages
        where in_tree and model is not null
    ),
    by_own_turn as (
        select
            needing.source,
            needing.stream_id,
            needing.generation,
            needing.seq,
            needing.part,
            settings.model
        from needing
        asof inner join
            settings
            on settings.source = needing.source
            and settings.session_id = needing.session_id
            and settings.stream_id = needing.stream_id
            and settings.turn_id = needing.turn_id
            and settings.place <= needing.place
    ),
    by_turn as (
        select source, session_id, turn_id, arg_max(model, (place, stream_id)) as model
        from settings
        where turn_id is not null
        group by all
    ),
    by_above as (
        select
            turned.source,
            turned.stream_id,
            turned.generation,
            turned.seq,
            turned.part,
            above.model
        from turned
        asof inner join
            in_tree as above
            on above.source = turned.source
            and above.session_id = turned.session_id
            and above.stream_id = turned.stream_id
            and above.place < turned.place
    ),
    in_stream as (
        -- lines may be shared: the last one on it holds
        select source, stream_id, place, arg_max(model, part) as model
        from settings
        group by all
    ),
    by_stream as (
        select
            needing.source,
            needing.stream_id,
            needing.generation,
            needing.seq,
            needing.part,
            coalesce(earlier.model, later.model) as model
        from needing
        asof left join
            in_stream as earlier
            on earlier.source = needing.source
            and earlier.stream_id = needing.stream_id
            and earlier.place <= needing.place
        asof left join
            in_stream as later
            on later.source = needing.source
            and later.stream_id = needing.stream_id
            and later.place >= needing.place
        where needing.kind <> 'call'
    ),
    tiers as (
        select
            source,
            stream_id,
            place_of(generation, seq) as place,
            arg_max(service_tier, part) as service_tier
        from staging.turns
        where service_tier is not null
        group by all
    ),
    by_tier as (
        select
            needing.source,
            needing.stream_id,
            needing.generation,
            needing.seq,
            needing.part,
            tiers.service_tier
        from needing
        asof inner join
            tiers
            on tiers.source = needing.source
            and tiers.stream_id = needing.stream_id
            and tiers.place <= needing.place
        where needing.kind <> 'call'
    ),
    in_time as (
        select source, session_id, began_at, max(model) as model
        from settings
        where began_at is not null
        group by all
    ),
    moments as (
        select
            usage.source,
            usage.session_id,
            usage.called_at,
            coalesce(
                lead(usage.called_at) over (
                    partition by usage.source, usage.session_id order by usage.called_at
                ),
                timestamptz 'infinity'
            ) as next_at
        from staging.usage as usage
        semi join in_time using (source, session_id)
        where usage.kind = 'call' and usage.called_at is not null
        group by usage.source, usage.session_id, usage.called_at
    ),
    by_time as (
        select
            moments.source,
            moments.session_id,
            moments.called_at,
            coalesce(earlier.model, later.model) as model
        from moments
        asof left join
            in_time as earlier
            on earlier.source = moments.source
            and earlier.session_id = moments.session_id
            and earlier.began_at < moments.next_at
        asof left join
            in_time as later
            on later.source = moments.source
            and later.session_id = moments.session_id
            and later.began_at >= moments.next_at
    )

select
    needing.source,
    needing.stream_id,
    needing.generation,
    needing.seq,
    needing.part,
    coalesce(
        by_tree.model,
        by_own_turn.model,
        by_turn.model,
        by_above.model,
        by_stream.model,
        by_time.model
    ) as model,
    by_tier.service_tier
from needing
left join by_tree using (source, stream_id, generation, seq, part)
left join by_own_turn using (source, stream_id, generation, seq, part)
left join by_turn using (source, session_id, turn_id)
left join by_above using (source, stream_id, generation, seq, part)
left join by_stream using (source, stream_id, generation, seq, part)
left join by_tier using (source, stream_id, generation, seq, part)
left join
    by_time
    on by_time.source = needing.source
    and by_time.session_id = needing.session_id
    and by_time.called_at = needing.called_at
    and needing.kind = 'call'
    and needing.granularity <> 'session'
    and needing.model is null
