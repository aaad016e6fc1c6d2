/*
One row per source and type of record that its adapter neither uses nor ignores.

grain   source, type
columns type     The name that the agent gives the type, and what it is a type of.
        records  How many records hold one.
why     A new version of an agent may begin to write a type that carries usage. Such
        records are kept in raw; a newer version of agentlake may understand them.
*/
with
    seen as (
        select
            source,
            type,
            count(*) as records,
            min(load_id) as first_load_id,
            max(load_id) as last_load_id,
            arg_max(
                struct_pack(stream_id := stream_id, seq := seq),
                (load_id, stream_id, seq)
            ) as example
        from meta.unknown_records
        group by all
    )

select
    seen.source,
    seen.type,
    seen.records,
    first_load.started_at as first_seen_at,
    last_load.started_at as last_seen_at,
    streams.path as example_path,
    seen.example.seq as example_seq
from seen
left join meta.loads as first_load on first_load.load_id = seen.first_load_id
left join meta.loads as last_load on last_load.load_id = seen.last_load_id
left join meta.streams as streams on streams.stream_id = seen.example.stream_id
order by seen.records desc, seen.source asc, seen.type asc
