/*
One row per rate that can apply to something that was used: what a public price list or
the user's [prices] settings charge for it in one span of dates, of daily hours and days
of the week (UTC) and of prompt sizes.

grain   price_id
checks  not_null(model); expect(tier_above < tier_upto or tier_upto is null)
why     The tier and the daily hours belong to a call, so they are picked per
        call, never on aggregates; and every rate is resolved (no price of its
        own: its parent's), so that no query needs to know the package's rules.
        Spans are half open, null is open; `weekdays` has a bit per day, Monday is 1; tier_above is exclusive and -1 for the
        base. Rates are for a million tokens, a thousand searches or requests.
*/
select
    -- keys
    price_id,
    source,
    provider,
    model,
    service_tier,
    region,
    -- facts
    valid_from,
    valid_to,
    time_from,
    time_to,
    weekdays,
    tier_above,
    tier_upto,
    input_usd,
    cache_read_usd,
    cache_write_usd,
    cache_write_1h_usd,
    output_usd,
    reasoning_usd,
    web_search_usd,
    request_usd,
    -- lineage
    seller,
    list_model,
    origin,
    page
from meta.price_quotes
