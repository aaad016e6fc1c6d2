/*
From a number back to the line

The file and line that the dearest call stands on.
*/
select
    usage.called_at,
    usage.cost_usd,
    parse_filename(streams.path) as file_name,
    usage.seq + 1 as line_number
from core.usage
inner join meta.streams as streams on streams.stream_id = usage.stream_id
order by usage.cost_usd desc nulls last
limit 3
