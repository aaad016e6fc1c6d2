/*
One row per record of usage that is no call of its own: which call it repeats, and
by which rule it was dropped.

grain   source, stream_id, generation, seq, part
key     source, session_id
checks  not_null(rule)
why     Any total can be walked back: records = calls + copies.
*/
select
    -- keys
    calls.source,
    calls.usage_id,
    calls.session_id,
    calls.agent_id,
    calls.message_id,
    -- facts
    if(
        calls.is_replaced, 'its fallback requests count instead', 'one row per message'
    ) as rule,
    calls.called_at,
    calls.input_tokens,
    calls.cache_read_tokens,
    calls.cache_write_tokens,
    calls.output_tokens,
    -- lineage
    calls.stream_id,
    calls.generation,
    calls.seq,
    calls.part
from core._message_calls as calls
where not calls.is_bill or calls.is_replaced
union all by name
select
    -- keys
    calls.source,
    calls.usage_id,
    calls.session_id,
    calls.agent_id,
    calls.message_id,
    -- facts
    calls.dropped_by as rule,
    calls.called_at,
    calls.input_tokens,
    calls.cache_read_tokens,
    calls.cache_write_tokens,
    calls.output_tokens,
    -- lineage
    calls.stream_id,
    calls.generation,
    calls.seq,
    calls.part
from core._counter_calls as calls
where calls.dropped_by is not null
