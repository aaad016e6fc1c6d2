/*
At any moment one rate applies to a call, or none.

asset     core.prices
why       Where two rates apply, the call is in core.usage twice.
*/
select
    one.source,
    one.provider,
    one.model,
    one.service_tier,
    one.region,
    one.price_id,
    other.price_id as other_price_id
from core.prices as one
inner join
    core.prices as other
    on one.price_id < other.price_id
    and one.source = other.source
    and one.model = other.model
    and one.provider is not distinct from other.provider
    and one.service_tier is not distinct from other.service_tier
    and one.region is not distinct from other.region
where
    coalesce(one.valid_from, '-infinity'::timestamptz)
    < coalesce(other.valid_to, 'infinity'::timestamptz)
    and coalesce(other.valid_from, '-infinity'::timestamptz)
    < coalesce(one.valid_to, 'infinity'::timestamptz)
    and coalesce(one.time_from, '00:00:00'::time)
    < coalesce(other.time_to, '24:00:00'::time)
    and coalesce(other.time_from, '00:00:00'::time)
    < coalesce(one.time_to, '24:00:00'::time)
    and coalesce(one.weekdays, 127) & coalesce(other.weekdays, 127) > 0
    and one.tier_above < coalesce(other.tier_upto, 9223372036854775807)
    and other.tier_above < coalesce(one.tier_upto, 9223372036854775807)
