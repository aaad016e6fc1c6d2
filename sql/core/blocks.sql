/*
One row per content block of a message, in the order in which they were said.

grain   source, session_id, message_id, block_index
key     source, session_id
checks  not_null(type)
why     A message comes in several records (one per block), and the same records again
        in copies; equal content of one message is one block, wherever it lies. The
        content of tool calls and results is in core.tool_calls.
*/
with
    placed as (
        select
            source,
            stream_id,
            generation,
            seq,
            part,
            session_id,
            message_id,
            agent_id,
            (
                type,
                coalesce(tool_call_id, ''),
                if(text is null, cast(block_index as varchar), md5(text))
            ) as content
        from staging.blocks
    ),
    first_seen as (
        select *
        from placed
        qualify
            row_number() over (
                partition by source, session_id, message_id, content
                order by agent_id nulls first, stream_id, generation, seq, part
            )
            = 1
    ),
    numbered as (
        select
            *,
            row_number() over (
                partition by source, session_id, message_id
                order by agent_id nulls first, stream_id, generation, seq, part
            )
            - 1 as place
        from first_seen
    )

select
    -- keys
    numbered.source,
    numbered.session_id,
    numbered.message_id,
    numbered.place as block_index,
    -- facts
    blocks.type,
    blocks.text,
    blocks.tool_call_id,
    -- lineage
    numbered.stream_id,
    numbered.generation,
    numbered.seq
from numbered
inner join
    staging.blocks as blocks
    on blocks.source = numbered.source
    and blocks.session_id = numbered.session_id
    and blocks.stream_id = numbered.stream_id
    and blocks.generation = numbered.generation
    and blocks.seq = numbered.seq
    and blocks.part = numbered.part
