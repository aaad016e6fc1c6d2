/*
One row per record of usage that does not name its model, with the model of its turn and
the service tier that the settings had by then.

grain   source, stream_id, generation, seq, part
only    staging.usage where model is null and kind <> 'call'
why     The model is set at the start of a turn. In order of precedence: the record's own
        turn; the last setting before it; the next one of the stream (usage can
        precede the first setting). A tier holds in its stream until another is named,
        on the part that a fork copied too.
*/
with
    settings as (
        select
            source,
            session_id,
            stream_id,
            turn_id,
            model,
            place_of(generation, seq) as place
        from staging.turns
        where model is not null
        -- lines may be shared: the last one on it holds
        qualify
            row_number() over (partition by source, stream_id, place order by part desc)
            = 1
    ),
    tiers as (
        select source, stream_id, service_tier, place_of(generation, seq) as place
        from staging.turns
        where service_tier is not null
        qualify
            row_number() over (partition by source, stream_id, place order by part desc)
            = 1
    ),
    by_turn as (
        select source, session_id, turn_id, arg_max(model, place) as model
        from settings
        where turn_id is not null
        group by all
    ),
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
        where model is null and kind <> 'call'
    )

select
    needing.source,
    needing.stream_id,
    needing.generation,
    needing.seq,
    needing.part,
    coalesce(by_turn.model, earlier.model, later.model) as model,
    tiers.service_tier
from needing
left join
    by_turn
    on by_turn.source = needing.source
    and by_turn.session_id = needing.session_id
    and by_turn.turn_id = needing.turn_id
asof left join
    settings as earlier
    on earlier.source = needing.source
    and earlier.stream_id = needing.stream_id
    and earlier.place <= needing.place
asof left join
    settings as later
    on later.source = needing.source
    and later.stream_id = needing.stream_id
    and later.place >= needing.place
asof left join
    tiers
    on tiers.source = needing.source
    and tiers.stream_id = needing.stream_id
    and tiers.place <= needing.place
