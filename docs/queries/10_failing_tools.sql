/*
Which tools fail most

`no_result` are calls that were cut off.
*/
select
    source,
    name,
    calls,
    failed,
    no_result,
    round(100.0 * failed / calls, 1) as failed_percent
from marts.tool_usage
where failed > 0
order by failed_percent desc, calls desc
