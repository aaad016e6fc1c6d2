/*
One row per message of a session; a copy in another session is a row there, marked.

grain   source, session_id, message_id
key     source, session_id
base    core._messages
texts   staging.blocks
checks  not_null(role, kind)
columns kind (prompt | response | thinking | tool_result | command | local_output
            | compaction_summary | error | meta)  What the message is.
        content_hash  A hash of what its kind and its text are made from.
        headline  The first line of a prompt that says something, as a title.
why     What a message is, is decided in core._messages. Its text comes in blocks and is
        fetched last, only for messages that are new or other than before: one more
        turn of a long session does not read all that was said in it. Of a prompt the
        text is what was typed; nothing typed, no prompt, unless a picture was meant.
*/
with
    said as (
        select
            messages.source,
            messages.session_id,
            messages.message_id,
            string_agg(
                written.text, chr(10) || chr(10) order by blocks.block_index
            ) as text
        from core._messages as messages
        inner join
            core._blocks as blocks
            on blocks.source = messages.source
            and blocks.session_id = messages.session_id
            and blocks.message_id = messages.message_id
        inner join
            staging.blocks as written
            on written.source = blocks.source
            and written.session_id = blocks.session_id
            and written.stream_id = blocks.stream_id
            and written.generation = blocks.generation
            and written.seq = blocks.seq
            and written.part = blocks.part
        where blocks.type in ('text', 'attachment')
        group by all
    ),
    read as (
        select
            messages.*,
            said.text,
            if(messages.recorded_kind = 'prompt', typed(said.text), null) as typed_text
        from core._messages as messages
        left join
            said
            on said.source = messages.source
            and said.session_id = messages.session_id
            and said.message_id = messages.message_id
    ),
    told as (
        select
            * exclude (text),
            typed_text = '' and not has_picture as is_not_typed,
            if(
                typed_text is null or (typed_text = '' and not has_picture),
                text,
                nullif(typed_text, '')
            ) as text
        from read
    ),
    named as (select *, if(is_not_typed, 'meta', recorded_kind) as kind from told)

select
    -- keys
    source,
    session_id,
    message_id,
    seq,
    parent_message_id,
    agent_id,
    -- facts
    role,
    kind,
    model,
    sent_at,
    text,
    if(
        kind = 'prompt' or (role = 'user' and kind = 'meta'),
        title_of(typed(text)),
        null
    ) as headline,
    content_hash,
    is_copied,
    is_sidechain,
    label,
    is_gone,
    -- lineage
    stream_id,
    generation
from named
