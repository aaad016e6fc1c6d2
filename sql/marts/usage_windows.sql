/*
One row per source and 5-hour window, the unit in which subscription plans count.

grain   source, started_at
columns started_at  When the window begins; its first call may be later.
        ends_at     When the window ends: five hours after it began.
why     A window starts with the first call at or after the end of the one before and
        lasts five hours, whatever happens in it; the next one starts with the next
        call, not on a fixed grid. Some plans are said to begin a window at the full
        hour (UTC) before its first call (`has_hourly_windows`): its start is rounded
        down to the hour, that of all others to the minute. No vendor documents it.
        Five hours are a whole number of either slot, so calls are added up by slot
        first. A window surely starts after five hours without a call: the spells
        between such pauses are walked side by side, which takes a few steps and not
        one for each window of all years. Totals of whole sessions have no one moment
        and are left out. A call is placed by when its answer was written. The plan
        itself is not on disk: one that is used from several sources or machines has
        other windows. A connection that asks about some days sees the windows that
        began on them.
*/
with recursive
    slots as (
        select
            source,
            divide(epoch_us(called_at), slot_us) * slot_us as slot,
            min(called_at) as first_called_at,
            max(called_at) as last_called_at,
            cast(coalesce(sum(calls), 0) as bigint) as calls,
            sum(input_tokens) as input_tokens,
            sum(cache_read_tokens) as cache_read_tokens,
            sum(cache_write_tokens) as cache_write_tokens,
            sum(output_tokens) as output_tokens,
            sum(web_search_requests) as web_search_requests,
            sum(cost_usd) as cost_usd,
            count(*) filter (where cost_usd is null) as unpriced_calls,
            sum(cost_low_usd) as cost_low_usd,
            sum(cost_high_usd) as cost_high_usd,
            assumed_usd(usage) as assumed_cost_usd,
            reported_only_usd(usage) as reported_only_usd,
            unknown_cost_calls(usage) as unknown_cost_calls
        from
            (
                select *, if(has_hourly_windows, 3600000000, 60000000) as slot_us
                from core.usage
                where unit = 'tokens' and granularity <> 'session'
            ) as usage
        group by all
    ),
    spells as materialized(
        select
            *, sum(cast(is_after_pause as integer)) over earlier_slots as spell_number
        from
            (
                select
                    *,
                    coalesce(
                        slot - lag(slot) over earlier_slots >= 18000000000, true
                    ) as is_after_pause
                from slots
                window earlier_slots as (partition by source order by slot)
            ) as paused
        window
            earlier_slots as (
                partition by source order by slot rows unbounded preceding
            )
    ),
    windows as (
        select source, spell_number, slot
        from spells
        where is_after_pause
        union all
        select windows.source, windows.spell_number, min(spells.slot) as slot
        from windows
        inner join
            spells
            on spells.source = windows.source
            and spells.spell_number = windows.spell_number
            and spells.slot >= windows.slot + 18000000000
        group by all
    )

select
    windows.source,
    make_timestamptz(windows.slot) as started_at,
    make_timestamptz(windows.slot + 18000000000) as ends_at,
    min(spells.first_called_at) as first_called_at,
    max(spells.last_called_at) as last_called_at,
    cast(sum(spells.calls) as bigint) as calls,
    cast(sum(spells.input_tokens) as bigint) as input_tokens,
    cast(sum(spells.cache_read_tokens) as bigint) as cache_read_tokens,
    cast(sum(spells.cache_write_tokens) as bigint) as cache_write_tokens,
    cast(sum(spells.output_tokens) as bigint) as output_tokens,
    cast(sum(spells.web_search_requests) as bigint) as web_search_requests,
    cast(sum(spells.cost_usd) as decimal(18, 6)) as cost_usd,
    cast(sum(spells.unpriced_calls) as bigint) as unpriced_calls,
    cast(sum(spells.cost_low_usd) as decimal(18, 6)) as cost_low_usd,
    cast(sum(spells.cost_high_usd) as decimal(18, 6)) as cost_high_usd,
    cast(sum(spells.assumed_cost_usd) as decimal(18, 6)) as assumed_cost_usd,
    cast(sum(spells.reported_only_usd) as decimal(18, 6)) as reported_only_usd,
    cast(sum(spells.unknown_cost_calls) as bigint) as unknown_cost_calls
from windows
inner join
    spells
    on spells.source = windows.source
    and spells.spell_number = windows.spell_number
    and spells.slot >= windows.slot
    and spells.slot < windows.slot + 18000000000
where is_asked_for(make_timestamptz(windows.slot)) and is_chosen(windows.source, null)
group by all
order by started_at desc, windows.source asc
