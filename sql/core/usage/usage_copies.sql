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
    case
        when not calls.is_bill
        then 'one row per message'
        when calls.is_outranked
        then 'told better elsewhere'
        else 'its parts count instead'
    end as rule,
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
where not calls.is_bill or calls.is_replaced or calls.is_outranked
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
union all by name
select
    -- keys
    totals.source,
    totals.usage_id,
    totals.session_id,
    totals.agent_id,
    totals.message_id,
    -- facts
    if(totals.is_outranked, 'told better elsewhere', 'an earlier total') as rule,
    totals.called_at,
    totals.input_tokens,
    totals.cache_read_tokens,
    totals.cache_write_tokens,
    totals.output_tokens,
    -- lineage
    totals.stream_id,
    totals.generation,
    totals.seq,
    totals.part
from core._snapshots as totals
where not totals.is_newest
union all by name
select
    -- keys
    rests.source,
    rests.usage_id,
    rests.session_id,
    rests.agent_id,
    rests.message_id,
    -- facts
    if(rests.is_newest, 'nothing left beyond its calls', 'an earlier total') as rule,
    rests.called_at,
    rests.input_tokens,
    rests.cache_read_tokens,
    rests.cache_write_tokens,
    rests.output_tokens,
    -- lineage
    rests.stream_id,
    rests.generation,
    rests.seq,
    rests.part
from core._rests as rests
where not (rests.is_newest and rests.has_rest)
union all by name
select
    -- keys
    legs.source,
    legs.usage_id,
    legs.session_id,
    legs.agent_id,
    -- facts
    legs.dropped_by as rule,
    legs.called_at,
    legs.input_tokens,
    legs.cache_read_tokens,
    legs.cache_write_tokens,
    legs.output_tokens,
    -- lineage
    legs.stream_id,
    legs.generation,
    legs.seq,
    legs.part
from core._leg_calls as legs
where legs.dropped_by is not null
union all by name
select
    -- keys
    replies.source,
    replies.usage_id,
    replies.session_id,
    replies.agent_id,
    replies.message_id,
    -- facts
    replies.dropped_by as rule,
    replies.called_at,
    replies.output_tokens,
    -- lineage
    replies.stream_id,
    replies.generation,
    replies.seq,
    replies.part
from core._leg_replies as replies
where replies.dropped_by is not null
