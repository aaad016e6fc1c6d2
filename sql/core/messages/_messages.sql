/*
One row per message of a session, before its text.

grain   source, session_id, message_id
why     A message is one answer or one prompt, however many records it took. It is
        copied when it belongs to an older session, when its record says so, or when
        it lies in the part of a thread that repeats its parent. It is gone when its
        agent has deleted it since it was loaded. The hash is that of all from which
        core.messages makes the message's kind and text.
*/
with
    whole as (
        select
            records.source,
            records.session_id,
            id_of_reply(records.message_id, apart.began_us) as message_id,
            arg_min(
                struct_pack(
                    stream_id := records.stream_id,
                    generation := records.generation,
                    -- a document's messages are counted on from its record
                    seq := records.seq + records.part,
                    agent_id := records.agent_id,
                    parent_record_id := records.parent_record_id,
                    role := records.role,
                    kind := records.kind,
                    is_sidechain := records.is_sidechain
                ),
                (
                    coalesce(records.agent_id, ''),
                    records.generation,
                    records.seq,
                    records.part,
                    records.stream_id
                )
            ) as opening,
            arg_max(records.model, place_of(records.generation, records.seq)) as model,
            arg_min(records.label, place_of(records.generation, records.seq)) as label,
            min(records.sent_at) as sent_at,
            bool_or(
                copies.origin_id is not null
                or is_replay(records.seq, replays.head_seq, replays.own_from_seq)
                or coalesce(records.sent_at < forks.started_at, false)
            ) as says_copied
        from staging.messages as records
        left join
            core._replays as replays
            on replays.source = records.source
            and replays.stream_id = records.stream_id
            and replays.generation = records.generation
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
        left join
            core._forks as forks
            on forks.source = records.source
            and forks.session_id = records.session_id
        anti join
            core._superseded_messages as superseded
            on superseded.source = records.source
            and superseded.session_id = records.session_id
            and superseded.message_id = records.message_id
        group by all
    ),
    contents as (
        select
            source,
            session_id,
            message_id,
            bit_xor(md5_number_lower(block_index || ':' || text_hash)) filter (
                where type in ('text', 'attachment')
            ) as texts,
            bool_or(type in ('image', 'document')) as has_picture
        from core._blocks
        where type in ('text', 'attachment', 'image', 'document')
        group by all
    ),
    parents as (
        select
            records.source,
            records.session_id,
            records.record_id,
            min(id_of_reply(records.message_id, apart.began_us)) as message_id
        from staging.messages as records
        left join
            core._reused_ids as apart
            on apart.source = records.source
            and apart.stream_id = records.stream_id
            and apart.generation = records.generation
            and apart.seq = records.seq
            and apart.reply_key = records.message_id
        where records.record_id is not null
        group by all
    ),
    gone as (
        select distinct source, session_id, message_id
        from staging.gone
        where message_id is not null
    )

select
    -- keys
    whole.source,
    whole.session_id,
    whole.message_id,
    whole.opening.seq as seq,
    parents.message_id as parent_message_id,
    whole.opening.agent_id as agent_id,
    -- facts
    whole.opening.role as role,
    whole.opening.kind as recorded_kind,
    coalesce(contents.has_picture, false) as has_picture,
    whole.model,
    whole.sent_at,
    cast(
        md5_number_lower(
            concat_ws(':', whole.opening.kind, contents.has_picture, contents.texts)
        )
        >> 1 as bigint
    ) as content_hash,
    whole.says_copied or owners.session_id <> whole.session_id as is_copied,
    coalesce(
        whole.opening.is_sidechain, whole.opening.agent_id is not null
    ) as is_sidechain,
    whole.label,
    gone.message_id is not null as is_gone,
    -- lineage
    whole.opening.stream_id as stream_id,
    whole.opening.generation as generation
from whole
inner join
    core._message_owners as owners
    on owners.source = whole.source
    and owners.message_id = whole.message_id
left join
    contents
    on contents.source = whole.source
    and contents.session_id = whole.session_id
    and contents.message_id = whole.message_id
left join
    parents
    on parents.source = whole.source
    and parents.session_id = whole.session_id
    and parents.record_id = whole.opening.parent_record_id
    and parents.message_id <> whole.message_id
left join
    gone
    on gone.source = whole.source
    and gone.session_id = whole.session_id
    and gone.message_id = whole.message_id
