/*
One row per message with the session to which it belongs, however many have a copy.

grain   source, message_id
why     A record may name the session that it was copied from; else it belongs to where it stands, or, where copies get ids of their
        own, to where the same call stands. Of several such candidates one that holds
        an unmarked record wins, then the oldest session, then the one that ended first,
        then the smaller id.
*/
with
    keyed as (
        select distinct source, usage_key, message_id, session_id
        from staging.usage
        where usage_key is not null and message_id is not null and kind = 'call'
    ),
    candidates as (
        select
            records.source,
            id_of_reply(records.message_id, apart.began_us) as message_id,
            coalesce(copies.origin_id, records.session_id) as session_id,
            copies.origin_id is not null as is_inferred
        from staging.messages as records
        left join
            core._copied_records as copies
            on copies.source = records.source
            and copies.stream_id = records.stream_id
            and copies.generation = records.generation
            and copies.seq = records.seq
            and copies.part = records.part
        left join
            core._reused_ids as apart
            on apart.source = records.source
            and apart.stream_id = records.stream_id
            and apart.generation = records.generation
            and apart.seq = records.seq
            and apart.reply_key = records.message_id
        union all by name
        select here.source, here.message_id, there.session_id, false as is_inferred
        from keyed as here
        inner join
            keyed as there
            on there.source = here.source
            and there.usage_key = here.usage_key
        where there.message_id <> here.message_id
    )

select
    candidates.source,
    candidates.message_id,
    arg_min(
        candidates.session_id,
        (
            candidates.is_inferred,
            coalesce(began.first_at, timestamptz 'infinity'),
            coalesce(began.last_at, timestamptz 'infinity'),
            candidates.session_id
        )
    ) as session_id
from candidates
left join
    core._session_starts as began
    on began.source = candidates.source
    and began.session_id = candidates.session_id
group by all
