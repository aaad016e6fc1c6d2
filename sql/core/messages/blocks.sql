/*
One row per content block of a message, in the order in which they were said.

grain   source, session_id, message_id, block_index
key     source, session_id
checks  not_null(type)
why     A message comes in several records (one per block), and the same records again
        in copies; equal content of one message is one block, wherever it lies. The
        text is compared by its hash, and fetched for the blocks that are left. The
        content of tool calls and results is in core.tool_calls.
*/
with
    told as (
        select said.*
        from staging.blocks as said
        anti join
            core._superseded_messages as superseded
            on superseded.source = said.source
            and superseded.session_id = said.session_id
            and superseded.message_id = said.message_id
    ),
    contents as (
        select
            source,
            session_id,
            message_id,
            type,
            tool_call_id,
            hash(text) as text_hash,
            if(text is null, block_index, null) as textless_index,
            min(
                struct_pack(
                    agent := coalesce(agent_id, ''),
                    seq := seq,
                    generation := generation,
                    stream_id := stream_id,
                    part := part
                )
            ) as place
        from told
        group by all
    ),
    numbered as (
        select
            source,
            session_id,
            message_id,
            place,
            row_number() over (
                partition by source, session_id, message_id order by place
            )
            - 1 as block_index
        from contents
    )

select
    -- keys
    numbered.source,
    numbered.session_id,
    numbered.message_id,
    numbered.block_index,
    -- facts
    blocks.type,
    blocks.text,
    blocks.tool_call_id,
    -- lineage
    blocks.stream_id,
    blocks.generation,
    blocks.seq
from numbered
inner join
    staging.blocks as blocks
    on blocks.source = numbered.source
    and blocks.session_id = numbered.session_id
    and blocks.stream_id = numbered.place.stream_id
    and blocks.generation = numbered.place.generation
    and blocks.seq = numbered.place.seq
    and blocks.part = numbered.place.part
