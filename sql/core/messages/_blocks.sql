/*
One row per content block of a message, with the place of its text.

grain   source, session_id, message_id, block_index
key     source, session_id
checks  not_null(type)
why     A message comes in several records (one per block), and the same records again
        in copies; equal content of one message is one block, wherever it lies. Texts
        are compared by their hashes and are not read.
*/
with
    own as (
        select
            found.* replace (
                id_of_reply(found.message_id, apart.began_us) as message_id
            )
        from staging.blocks as found
        left join
            core._reused_ids as apart
            on apart.source = found.source
            and apart.stream_id = found.stream_id
            and apart.generation = found.generation
            and apart.seq = found.seq
            and apart.reply_key = found.message_id
        anti join
            core._superseded_messages as superseded
            on superseded.source = found.source
            and superseded.session_id = found.session_id
            and superseded.message_id = found.message_id
    ),
    contents as (
        select
            source,
            session_id,
            message_id,
            type,
            tool_call_id,
            text_hash,
            if(text_hash is null, block_index, null) as textless_index,
            min(
                struct_pack(
                    agent := coalesce(agent_id, ''),
                    seq := seq,
                    generation := generation,
                    stream_id := stream_id,
                    part := part
                )
            ) as place
        from own
        group by all
    )

select
    -- keys
    source,
    session_id,
    message_id,
    row_number() over (partition by source, session_id, message_id order by place)
    - 1 as block_index,
    -- facts
    type,
    text_hash,
    tool_call_id,
    -- lineage
    place.stream_id as stream_id,
    place.generation as generation,
    place.seq as seq,
    place.part as part
from contents
