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
        when calls.is_nothing
        then 'nothing was used'
        when not calls.is_bill
        then 'one row per message'
        when calls.is_superseded
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
where not calls.is_bill or calls.is_replaced or calls.is_superseded or calls.is_nothing
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
    if(totals.is_superseded, 'told better elsewhere', 'an earlier total') as rule,
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
    remainders.source,
    remainders.usage_id,
    remainders.session_id,
    remainders.agent_id,
    remainders.message_id,
    -- facts
    if(
        remainders.is_newest, 'nothing left beyond its calls', 'an earlier total'
    ) as rule,
    remainders.called_at,
    remainders.input_tokens,
    remainders.cache_read_tokens,
    remainders.cache_write_tokens,
    remainders.output_tokens,
    -- lineage
    remainders.stream_id,
    remainders.generation,
    remainders.seq,
    remainders.part
from core._remainders as remainders
where not (remainders.is_newest and remainders.has_remainder)
union all by name
select
    -- keys
    segments.source,
    segments.usage_id,
    segments.session_id,
    segments.agent_id,
    -- facts
    segments.dropped_by as rule,
    segments.called_at,
    segments.input_tokens,
    segments.cache_read_tokens,
    segments.cache_write_tokens,
    segments.output_tokens,
    -- lineage
    segments.stream_id,
    segments.generation,
    segments.seq,
    segments.part
from core._run_segment_calls as segments
where segments.dropped_by is not null
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
from core._run_segment_replies as replies
where replies.dropped_by is not null
