/*
What each week cost

Weeks begin on Monday. `unpriced_calls` says how many calls are in no sum.
*/
select
    cast(date_trunc('week', usage_date) as date) as week_from,
    source,
    sum(calls) as calls,
    sum(output_tokens) as output_tokens,
    sum(cost_usd) as cost_usd,
    sum(unpriced_calls) as unpriced_calls
from marts.daily_usage
group by all
order by week_from desc, source asc
