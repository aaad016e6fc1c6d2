/*
At which hours the agents work

In UTC; `timezone('Europe/Berlin', called_at)` for another zone.
*/
select
    hour(timezone('UTC', called_at)) as hour_of_day,
    count(*) as calls,
    bar(count(*), 0, 40, 20) as picture
from core.usage
where granularity = 'call'
group by hour_of_day
order by hour_of_day
