/*
Which shell commands are run most

The first word of each; Claude Code's Bash and Codex's shell.
*/
select
    source,
    split_part(coalesce(input ->> 'command', input ->> 'cmd'), ' ', 1) as first_word,
    count(*) as calls,
    count(*) filter (where status = 'failed') as failed
from core.tool_calls
where name in ('Bash', 'exec_command', 'shell_command')
group by all
order by calls desc, first_word asc
limit 10
