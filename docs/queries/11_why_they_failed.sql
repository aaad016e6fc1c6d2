/*
What the failed calls said

The first line of each result.
*/
select called_at, name, left(split_part(result_text, chr(10), 1), 60) as said
from core.tool_calls
where status = 'failed'
order by called_at desc
limit 10
