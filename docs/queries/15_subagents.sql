/*
Who spawned whom, and what it cost

`tree_cost_usd` is a session with all below it.
*/
select
    source,
    repeat('  ', tree_depth) || coalesce(agent_type, title, session_id) as who,
    calls,
    cost_usd,
    tree_cost_usd
from marts.subagent_tree
order by source, tree_path
