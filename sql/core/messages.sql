/*
One row per message of a session; a copy in another session is a row there, marked.

grain   source, session_id, message_id
key     source, session_id
checks  not_null(role, kind);
        expect(role in ('user', 'assistant', 'tool', 'system'))
why     A message is one answer or one prompt, however many records it took. It is
        copied when it belongs to an older session, when its record says so, or when
        it lies in the part of a thread that repeats its parent.
*/
with
    placed as (
        select
            messages.*,
            coalesce(messages.request_session_id, messages.forked_from_session_id)
            is not null
            or coalesce(
                messages.seq > replays.head_seq and messages.seq < replays.own_from_seq,
                false
            ) as says_copied
        from staging.messages as messages
        left join
            core._replays as replays
            on replays.source = messages.source
            and replays.stream_id = messages.stream_id
            and replays.generation = messages.generation
    ),
    whole as (
        select
            source,
            session_id,
            message_id,
            arg_min(
                (
                    stream_id,
                    generation,
                    seq + part,  -- a document's messages are counted on from it
                    agent_id,
                    parent_record_id,
                    role,
                    kind,
                    is_sidechain
                ),
                (coalesce(agent_id, ''), generation, seq, part, stream_id)
            ) as first,
            arg_max(model, (generation, seq)) as model,
            min(sent_at) as sent_at,
            bool_or(says_copied) as says_copied
        from placed
        group by all
    ),
    texts as (
        select
            source,
            session_id,
            message_id,
            string_agg(text, chr(10) || chr(10) order by block_index) as text
        from core.blocks
        where type in ('text', 'attachment')
        group by all
    ),
    records as (
        select distinct source, session_id, record_id, message_id
        from staging.messages
        where record_id is not null
    ),
    parents as (
        select source, session_id, record_id, min(message_id) as message_id
        from records
        group by all
    )

select
    -- keys
    whole.source,
    whole.session_id,
    whole.message_id,
    whole.first[3] as seq,
    parents.message_id as parent_message_id,
    whole.first[4] as agent_id,
    -- facts
    whole.first[6] as role,
    whole.first[7] as kind,
    whole.model,
    whole.sent_at,
    texts.text,
    whole.says_copied or owners.session_id <> whole.session_id as is_copied,
    coalesce(whole.first[8], whole.first[4] is not null) as is_sidechain,
    -- lineage
    whole.first[1] as stream_id,
    whole.first[2] as generation
from whole
inner join
    core._message_owners as owners
    on owners.source = whole.source
    and owners.message_id = whole.message_id
left join
    texts
    on texts.source = whole.source
    and texts.session_id = whole.session_id
    and texts.message_id = whole.message_id
left join
    parents
    on parents.source = whole.source
    and parents.session_id = whole.session_id
    and parents.record_id = whole.first[5]
    and parents.message_id <> whole.message_id
