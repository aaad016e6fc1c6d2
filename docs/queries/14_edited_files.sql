/*
Which files are edited most

By the tools that name the file in their input.
*/
select
    input ->> 'file_path' as file_path,
    count(*) as edits,
    count(distinct session_id) as sessions
from core.tool_calls
where name in ('Edit', 'Write', 'MultiEdit') and status = 'done'
group by all
order by edits desc, file_path asc
limit 10
