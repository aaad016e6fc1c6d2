/*
How much of the work subagents do
*/
select
    usage.source,
    sessions.relation = 'subagent' as by_subagent,
    sum(usage.calls) as calls,
    sum(usage.output_tokens) as output_tokens,
    sum(usage.cost_usd) as cost_usd
from core.usage
inner join
    core.sessions
    on sessions.source = usage.source
    and sessions.main_session_id = usage.session_id
    and sessions.agent_id is not distinct from usage.agent_id
where usage.unit = 'tokens'
group by all
order by all
