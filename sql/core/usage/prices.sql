/*
One row per rate that can apply to something that was used: what genai-prices
or the user's [prices] settings charge for it in one span of dates, of daily
hours (UTC) and of prompt sizes.

grain   price_id
checks  not_null(model); expect(tier_above < tier_upto or tier_upto is null)
why     The tier and the daily hours belong to a call, so they are picked per
        call, never on aggregates; and every rate is resolved (no price of its
        own: its parent's), so that no query needs to know the package's rules.
        Spans are half open, null is open; tier_above is exclusive and -1 for the
        base. Rates are for a million tokens, a thousand searches or requests.
*/
select
    -- keys
    price_id,
    provider,
    model,
    service_tier,
    -- facts
    valid_from,
    valid_to,
    time_from,
    time_to,
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
    matched_provider,
    matched_model,
    origin
from meta.price_quotes
