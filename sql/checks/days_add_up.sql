/*
The days of marts.daily_usage add up to core.usage.

asset     marts.daily_usage
why       A report must not say less, or more, than the calls that it is made of.
*/
with
    days as (
        select
            source,
            sum(calls) as calls,
            sum(output_tokens) as output_tokens,
            sum(cost_usd) as cost_usd
        from marts.daily_usage
        group by all
    ),
    whole as (
        select
            source,
            coalesce(sum(calls), 0) as calls,
            sum(output_tokens) as output_tokens,
            sum(cost_usd) as cost_usd
        from core.usage
        where unit = 'tokens'
        group by all
    ),
    missing as (
        from whole
        except
        from days
    ),
    wrong as (
        from days
        except
        from whole
    )

from missing
union all
from wrong
