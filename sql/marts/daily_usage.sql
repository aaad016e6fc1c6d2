/*
One row per day, source and model with the calls of that day.

grain   usage_date, source, model
why     A call belongs to the day on which it was made, in the zone of the settings
        (or, for one connection, of `set variable time_zone = ...`). Asking a zone for
        a date is slow, so calls are added up by the quarter of an hour first: no zone
        begins its days within one.
*/
with
    parts as (
        select
            source,
            model,
            called_at,
            calls,
            input_tokens,
            cache_read_tokens,
            cache_write_tokens,
            output_tokens,
            web_search_requests,
            unit,
            cost_usd,
            cost_low_usd,
            cost_high_usd,
            reported_cost_usd,
            price_assumptions
        from core.usage
        where
            unit in ('tokens', 'usd')
            and not is_total
            and is_chosen(source, session_id)
            and is_chosen_model(model)
        union all by name
        select
            source,
            model,
            called_at,
            input_tokens,
            cache_read_tokens,
            cache_write_tokens,
            output_tokens,
            web_search_requests,
            unit,
            cost_usd,
            cost_low_usd,
            cost_high_usd,
            reported_cost_usd,
            price_assumptions
        from core.usage_steps
        where
            unit in ('tokens', 'usd')
            and is_chosen(source, session_id)
            and is_chosen_model(model)
    ),
    quarters as (
        select
            divide(epoch_us(called_at), 900000000) as quarter_hour,
            source,
            model,
            coalesce(sum(calls), 0) as calls,
            sum(input_tokens) as input_tokens,
            sum(cache_read_tokens) as cache_read_tokens,
            sum(cache_write_tokens) as cache_write_tokens,
            sum(output_tokens) as output_tokens,
            sum(web_search_requests) as web_search_requests,
            sum(cost_usd) as cost_usd,
            count(*) filter (
                where cost_usd is null and unit = 'tokens'
            ) as unpriced_calls,
            sum(cost_low_usd) as cost_low_usd,
            sum(cost_high_usd) as cost_high_usd,
            assumed_usd(parts) as assumed_cost_usd,
            reported_only_usd(parts) as reported_only_usd,
            unknown_cost_calls(parts) as unknown_cost_calls
        from parts
        where is_asked_for(called_at)
        group by all
    )

select
    local_date(make_timestamptz(quarter_hour * 900000000)) as usage_date,
    source,
    model,
    cast(sum(calls) as bigint) as calls,
    cast(sum(input_tokens) as bigint) as input_tokens,
    cast(sum(cache_read_tokens) as bigint) as cache_read_tokens,
    cast(sum(cache_write_tokens) as bigint) as cache_write_tokens,
    cast(sum(output_tokens) as bigint) as output_tokens,
    cast(sum(web_search_requests) as bigint) as web_search_requests,
    cast(sum(cost_usd) as decimal(18, 6)) as cost_usd,
    cast(sum(unpriced_calls) as bigint) as unpriced_calls,
    cast(sum(cost_low_usd) as decimal(18, 6)) as cost_low_usd,
    cast(sum(cost_high_usd) as decimal(18, 6)) as cost_high_usd,
    cast(sum(assumed_cost_usd) as decimal(18, 6)) as assumed_cost_usd,
    cast(sum(reported_only_usd) as decimal(18, 6)) as reported_only_usd,
    cast(sum(unknown_cost_calls) as bigint) as unknown_cost_calls
from quarters
group by all
order by usage_date desc, source asc, model asc
