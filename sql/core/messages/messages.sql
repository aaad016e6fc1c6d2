/*
One row per message of a session; a copy in another session is a row there, marked.

grain   source, session_id, message_id
key     source, session_id
checks  not_null(role, kind)
columns kind (prompt | response | thinking | tool_result | command | local_output
            | compaction_summary | error | meta)  What the message is.
why     A message is one answer or one prompt, however many records it took. It is
        copied when it belongs to an older session, when its record says so, or when
        it lies in the part of a thread that repeats its parent. It is gone when its
        agent has deleted it since it was loaded. Of a prompt the text is what was
        typed; nothing typed, no prompt.
*/
with
    whole as (
        select
            records.source,
            records.session_id,
            records.message_id,
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
                records.request_session_id is not null
                or records.forked_from_session_id is not null
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
    texts as (
        select
            said.source,
            said.session_id,
            said.message_id,
            said.text,
            if(whole.opening.kind = 'prompt', typed(said.text), null) as typed_text,
            said.has_picture
        from core._message_texts as said
        inner join
            whole
            on whole.source = said.source
            and whole.session_id = said.session_id
            and whole.message_id = said.message_id
    ),
    parents as (
        select source, session_id, record_id, min(message_id) as message_id
        from staging.messages
        where record_id is not null
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
    if(
        texts.typed_text = '' and not texts.has_picture, 'meta', whole.opening.kind
    ) as kind,
    whole.model,
    whole.sent_at,
    if(
        texts.typed_text is null or (texts.typed_text = '' and not texts.has_picture),
        texts.text,
        nullif(texts.typed_text, '')
    ) as text,
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
    texts
    on texts.source = whole.source
    and texts.session_id = whole.session_id
    and texts.message_id = whole.message_id
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
