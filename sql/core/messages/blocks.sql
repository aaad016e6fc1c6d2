/*
One row per content block of a message, in the order in which they were said.

grain   source, session_id, message_id, block_index
checks  not_null(type)
why     Which records make a block is decided in core._blocks; its text is fetched from
        where it stands. The content of tool calls and results is in core.tool_calls.
*/
select
    -- keys
    blocks.source,
    blocks.session_id,
    blocks.message_id,
    blocks.block_index,
    -- facts
    blocks.type,
    found.text,
    blocks.tool_call_id,
    -- lineage
    blocks.stream_id,
    blocks.generation,
    blocks.seq
from core._blocks as blocks
inner join
    staging.blocks as found
    on found.source = blocks.source
    and found.session_id = blocks.session_id
    and found.stream_id = blocks.stream_id
    and found.generation = blocks.generation
    and found.seq = blocks.seq
    and found.part = blocks.part
