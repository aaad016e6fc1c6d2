/*
Every call belongs to a session, or a subagent's session, that is in core.sessions.

asset     core.sessions
severity  warn
why       A report by session or project would leave such a call out.
*/
select
    calls.source, calls.session_id, count(*) as calls, sum(calls.cost_usd) as cost_usd
from core.usage as calls
anti join
    core.sessions as sessions
    on sessions.source = calls.source
    and sessions.main_session_id = calls.session_id
group by all
