/*
One row per source and 5-hour window, the unit in which subscription plans count.

grain   source, started_at
why     A window starts with the first call at or after the end of the one before and
        lasts five hours, whatever happens in it; the next one starts with the next
        call, not on a fixed grid. Claude's plans begin a window at the full hour
        (UTC) before its first call, so for claude_code the start is rounded down to
        the hour; Codex tells resets to the second, so for all others it is rounded
        down to the minute only. Both five hours and an hour are whole numbers of
        these slots, so calls are added up by slot first. Moments are compared as
        microseconds, which is many times faster. A window surely starts after five
        hours without a call, so the walk begins at all such slots at once.
        A call is placed by when its answer was written, and the plan itself is not
        on disk: a plan used from several sources or machines has other windows.
        A connection that asks about some days sees the windows that began on them.
*/
with recursive
    slots as materialized(
        select
            source,
            divide(epoch_us(called_at), slot_us) * slot_us as slot,
            min(called_at) as first_called_at,
            max(called_at) as last_called_at,
            count(*) as calls,
            sum(input_tokens) as input_tokens,
            sum(cache_read_tokens) as cache_read_tokens,
            sum(cache_write_tokens) as cache_write_tokens,
            sum(output_tokens) as output_tokens,
            sum(web_search_requests) as web_search_requests,
            sum(cost_usd) as cost_usd,
            count(*) filter (where cost_usd is null) as unpriced_calls
        from
            (
                select *, if(source in ('claude_code'), 3600000000, 60000000) as slot_us
                from core.usage
            ) as usage
        group by all
    ),
    steps as materialized(
        select
            slots.source,
            slots.slot,
            later.slot as next_slot,
            lag(slots.slot) over (
                partition by slots.source order by slots.slot
            ) as previous_slot
        from slots
        asof left join
            slots as later
            on later.source = slots.source
            and later.slot >= slots.slot + 18000000000
    ),
    windows as (
        select source, slot, next_slot
        from steps
        where previous_slot is null or slot >= previous_slot + 18000000000
        union
        select steps.source, steps.slot, steps.next_slot
        from windows
        inner join
            steps on steps.source = windows.source and steps.slot = windows.next_slot
    )

select
    windows.source,
    make_timestamptz(windows.slot) as started_at,
    make_timestamptz(windows.slot + 18000000000) as ends_at,
    min(slots.first_called_at) as first_called_at,
    max(slots.last_called_at) as last_called_at,
    cast(sum(slots.calls) as bigint) as calls,
    cast(sum(slots.input_tokens) as bigint) as input_tokens,
    cast(sum(slots.cache_read_tokens) as bigint) as cache_read_tokens,
    cast(sum(slots.cache_write_tokens) as bigint) as cache_write_tokens,
    cast(sum(slots.output_tokens) as bigint) as output_tokens,
    cast(sum(slots.web_search_requests) as bigint) as web_search_requests,
    cast(sum(slots.cost_usd) as decimal(18, 6)) as cost_usd,
    cast(sum(slots.unpriced_calls) as bigint) as unpriced_calls
from slots
asof inner join windows on windows.source = slots.source and windows.slot <= slots.slot
where is_asked_for(make_timestamptz(windows.slot))
group by all
order by started_at desc, windows.source asc
