/*
One row per subagent whose spawning call says what kind of agent it asked for.

grain   source, session_id, agent_id
why     Some versions write the kind of a subagent neither into its records nor beside
        them; only the call that spawned it names the kind.
*/
select
    links.source, links.session_id, links.agent_id, min(calls.agent_type) as agent_type
from staging.links as links
inner join
    staging.tool_calls as calls
    on calls.source = links.source
    and calls.session_id = links.session_id
    and calls.tool_call_id = links.tool_call_id
where links.agent_id is not null and calls.agent_type is not null
group by all
