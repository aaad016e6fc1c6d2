/*
The fullest 5-hour windows

By which rule a window starts, `sql/marts/usage_windows.sql` says.
*/
select source, started_at, ends_at, calls, output_tokens, cost_usd
from marts.usage_windows
order by cost_usd desc nulls last
limit 8
