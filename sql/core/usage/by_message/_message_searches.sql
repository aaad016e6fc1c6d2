/*
One row per message whose tool calls made web searches, with how many.

grain   source, message_id
only    staging.tool_results where search_count is not null
why     A search tool asks in hidden requests, which only its result counts.
*/
with
    calls as (
        select
            calls.source,
            calls.message_id,
            calls.tool_call_id,
            max(results.search_count) as search_count
        from staging.tool_calls as calls
        inner join
            staging.tool_results as results
            on results.source = calls.source
            and results.session_id = calls.session_id
            and results.tool_call_id = calls.tool_call_id
        where results.search_count is not null
        group by all
    )

select source, message_id, cast(sum(search_count) as bigint) as search_count
from calls
group by all
