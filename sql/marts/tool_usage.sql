/*
One row per source and tool: how often it was called, failed, and how long it took.

grain   source, name
columns calls  How often the tool was called.
*/
select
    calls.source,
    calls.name,
    count(*) as calls,
    count(*) filter (where calls.status = 'failed') as failed,
    count(*) filter (where calls.status = 'no_result') as no_result,
    count(distinct calls.session_id) as sessions,
    cast(median(calls.duration_ms) as bigint) as median_duration_ms,
    cast(sum(calls.duration_ms) as bigint) as total_duration_ms,
    max(calls.called_at) as last_called_at
from core._tool_calls as calls
where
    calls.status <> 'no_call'
    and is_asked_for(calls.called_at)
    and is_chosen(calls.source, calls.session_id)
group by all
order by count(*) desc, calls.source asc, calls.name asc
