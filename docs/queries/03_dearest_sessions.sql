/*
The dearest sessions

Subagents are counted in the session that spawned them.
*/
select started_at, source, title, project, calls, cost_usd
from marts.session_summary
order by cost_usd desc nulls last
limit 10
