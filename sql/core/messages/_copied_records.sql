/*
One row per record of a message that says from which session it was copied, if that one
is here.

grain   source, stream_id, generation, seq, part
only    staging.messages where request_session_id is not null or forked_from_session_id is not null
why     A copy may name the session of its request, or the one that it was branched
        from. Where neither is here, it is the only copy there is, and nobody's.
*/
with
    marked as (
        select
            source,
            stream_id,
            generation,
            seq,
            part,
            request_session_id,
            forked_from_session_id
        from staging.messages
        where request_session_id is not null or forked_from_session_id is not null
    ),
    here as (select distinct source, session_id from staging.messages)

select
    marked.source,
    marked.stream_id,
    marked.generation,
    marked.seq,
    marked.part,
    coalesce(requested.session_id, branched.session_id) as origin_id
from marked
left join
    here as requested
    on requested.source = marked.source
    and requested.session_id = marked.request_session_id
left join
    here as branched
    on branched.source = marked.source
    and branched.session_id = marked.forked_from_session_id
where coalesce(requested.session_id, branched.session_id) is not null
