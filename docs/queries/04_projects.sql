/*
What each project cost, and its share

Worktrees are folded into their repository.
*/
select
    project,
    sum(sessions) as sessions,
    sum(cost_usd) as cost_usd,
    round(100 * sum(cost_usd) / sum(sum(cost_usd)) over (), 1) as share_percent
from marts.project_usage
group by project
order by cost_usd desc nulls last
