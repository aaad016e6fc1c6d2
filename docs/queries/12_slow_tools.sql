/*
Which tools take the time

Waiting for the user's permission is a part of the time of some sources.
*/
select source, name, calls, median_duration_ms, total_duration_ms
from marts.tool_usage
order by total_duration_ms desc nulls last
limit 8
