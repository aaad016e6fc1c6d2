/*
What the failed calls said

The line of each result that says why.
*/
select called_at, name, left(reason_of(result_text), 60) as said
from core.tool_calls
where status = 'failed'
order by called_at desc
limit 10
