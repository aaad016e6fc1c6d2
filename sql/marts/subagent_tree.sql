/*
One row per session that has subagents, and per subagent: who spawned whom.

grain   source, session_id
why     What a row did itself stands beside what its whole tree did, itself and all
        below it, so that the dear branch is found from above. Parents are those of
        core.sessions; a fork or a continuation was spawned by nobody and stands in no
        tree of its parent. Where the parent is not loaded, the subagent is a root.
        Agents that were made ready and then not asked (they and all below them made no
        call and have no message of their own) stand in no tree. A
        connection that asks about some days sees what was done on them, of
        sessions that began or made a call on them.
*/
with recursive
    used as (
        select
            source,
            session_id,
            agent_id,
            cast(coalesce(sum(calls), 0) as bigint) as calls,
            sum(output_tokens) as output_tokens,
            sum(cost_usd) as cost_usd,
            count(*) filter (where cost_usd is null) as unpriced_calls,
            sum(cost_low_usd) as cost_low_usd,
            sum(cost_high_usd) as cost_high_usd,
            reported_only_usd(usage) as reported_only_usd,
            unknown_cost_calls(usage) as unknown_cost_calls
        from core.usage
        where unit = 'tokens' and is_asked_for(called_at)
        group by all
    ),
    busy as (
        select source, session_id, agent_id
        from core.usage
        union
        select source, session_id, agent_id
        from core.messages
        where not is_copied
    ),
    nodes as (
        select
            sessions.*,
            spawners.session_id as spawned_by,
            busy.source is not null as is_busy,
            coalesce(used.calls, 0) as calls,
            used.output_tokens,
            used.cost_usd,
            coalesce(used.unpriced_calls, 0) as unpriced_calls,
            used.cost_low_usd,
            used.cost_high_usd,
            used.reported_only_usd,
            coalesce(used.unknown_cost_calls, 0) as unknown_cost_calls
        from core.sessions as sessions
        left join
            core.sessions as spawners
            on sessions.relation = 'subagent'
            and spawners.source = sessions.source
            and spawners.session_id = sessions.parent_session_id
        left join
            used
            on used.source = sessions.source
            and used.session_id = sessions.main_session_id
            and used.agent_id is not distinct from sessions.agent_id
        left join
            busy
            on busy.source = sessions.source
            and busy.session_id = sessions.main_session_id
            and busy.agent_id is not distinct from sessions.agent_id
    ),
    tree as (
        select source, session_id, [session_id] as tree_path
        from nodes
        where spawned_by is null
        union all
        select
            nodes.source,
            nodes.session_id,
            list_append(tree.tree_path, nodes.session_id) as tree_path
        from tree
        inner join
            nodes on nodes.source = tree.source and nodes.spawned_by = tree.session_id
    ),
    below as (
        select source, session_id as descendant_id, unnest(tree_path) as session_id
        from tree
    ),
    used_trees as (
        select distinct below.source, below.session_id
        from below
        inner join
            nodes
            on nodes.source = below.source
            and nodes.session_id = below.descendant_id
        where nodes.is_busy
    ),
    totals as (
        select
            below.source,
            below.session_id,
            count(*) - 1 as subagents,
            cast(sum(nodes.calls) as bigint) as tree_calls,
            cast(sum(nodes.output_tokens) as bigint) as tree_output_tokens,
            cast(sum(nodes.cost_usd) as decimal(18, 6)) as tree_cost_usd,
            cast(sum(nodes.unpriced_calls) as bigint) as tree_unpriced_calls,
            cast(sum(nodes.cost_low_usd) as decimal(18, 6)) as tree_cost_low_usd,
            cast(sum(nodes.cost_high_usd) as decimal(18, 6)) as tree_cost_high_usd,
            cast(
                sum(nodes.reported_only_usd) as decimal(18, 6)
            ) as tree_reported_only_usd,
            cast(sum(nodes.unknown_cost_calls) as bigint) as tree_unknown_cost_calls
        from below
        inner join
            used_trees
            on used_trees.source = below.source
            and used_trees.session_id = below.descendant_id
        inner join
            nodes
            on nodes.source = below.source
            and nodes.session_id = below.descendant_id
        group by all
    )

select
    nodes.source,
    nodes.session_id,
    nodes.spawned_by as parent_session_id,
    tree.tree_path[1] as root_session_id,
    len(tree.tree_path) - 1 as tree_depth,
    tree.tree_path,
    nodes.relation,
    nodes.agent_type,
    nodes.title,
    nodes.project,
    nodes.started_at,
    nodes.ended_at,
    nodes.calls,
    cast(nodes.output_tokens as bigint) as output_tokens,
    cast(nodes.cost_usd as decimal(18, 6)) as cost_usd,
    nodes.unpriced_calls,
    cast(nodes.cost_low_usd as decimal(18, 6)) as cost_low_usd,
    cast(nodes.cost_high_usd as decimal(18, 6)) as cost_high_usd,
    nodes.reported_only_usd,
    nodes.unknown_cost_calls,
    totals.subagents,
    totals.tree_calls,
    totals.tree_output_tokens,
    totals.tree_cost_usd,
    totals.tree_unpriced_calls,
    totals.tree_cost_low_usd,
    totals.tree_cost_high_usd,
    totals.tree_reported_only_usd,
    totals.tree_unknown_cost_calls
from nodes
inner join tree on tree.source = nodes.source and tree.session_id = nodes.session_id
inner join
    totals on totals.source = nodes.source and totals.session_id = nodes.session_id
where
    (nodes.relation = 'subagent' or totals.subagents > 0)
    and (is_asked_for(nodes.started_at) or totals.tree_calls > 0)
order by nodes.source asc, tree.tree_path[1] asc, tree.tree_path asc
