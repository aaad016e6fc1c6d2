/*
One row per record of usage that is no call of its own: which call it repeats, and by
which rule it was dropped.

grain   source, stream_id, generation, seq, part
checks  not_null(rule)
why     Any total can be walked back: records = calls + copies.
*/
select
    -- keys
    source,
    usage_id,
    session_id,
    agent_id,
    message_id,
    -- facts
    dropped_by as rule,
    called_at,
    input_tokens,
    cache_read_tokens,
    cache_write_tokens,
    output_tokens,
    -- lineage
    stream_id,
    generation,
    seq,
    part
from core._usage_records
where dropped_by is not null
