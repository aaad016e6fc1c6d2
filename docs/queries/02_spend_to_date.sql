/*
Spend of the newest days, with the sum so far

The last seven days on which anything was used.
*/
select
    usage_date,
    sum(cost_usd) as cost_usd,
    sum(sum(cost_usd)) over (order by usage_date) as so_far_usd
from marts.daily_usage
group by usage_date
order by usage_date desc
limit 7
