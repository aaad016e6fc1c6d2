/*
One row per source: how much of it is loaded, how fresh it is, what went wrong.

grain   source
*/
with
    stored as (
        select
            source,
            count(*) as streams,
            count(*) filter (where status = 'deferred') as deferred_streams,
            count(*) filter (where status = 'waiting') as waiting_streams,
            count(*) filter (where missing_since is not null) as missing_streams,
            cast(sum(size) as bigint) as bytes,
            cast(sum(records) as bigint) as records,
            max(loaded_at) as last_loaded_at,
            max(parser_version) as parser_version
        from meta.streams
        group by all
    ),
    rejected as (
        select source, count(*) as rejects, max(load_id) as last_reject_load_id
        from meta.rejects
        group by all
    ),
    spoken as (
        select source, min(sent_at) as first_message_at, max(sent_at) as last_message_at
        from core.messages
        group by all
    )

select
    stored.source,
    sources.display_name,
    sources.icon,
    stored.streams,
    stored.deferred_streams,
    stored.waiting_streams,
    stored.missing_streams,
    stored.bytes,
    stored.records,
    stored.last_loaded_at,
    stored.parser_version,
    coalesce(rejected.rejects, 0) as rejects,
    rejected.last_reject_load_id,
    spoken.first_message_at,
    spoken.last_message_at
from stored
left join core.sources as sources on sources.source = stored.source
left join rejected on rejected.source = stored.source
left join spoken on spoken.source = stored.source
order by stored.source
