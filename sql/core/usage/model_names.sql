/*
One row per model as it was named and used, with what the name was found to be.

grain   source, provider, model, service_tier, region
why     Agents and clouds name one model in many ways. The steps from a name to a line of a
        price list are kept, so that they can be read; what was assumed on the way stands
        in `price_assumptions`: `vendor` (known only from the name), `list price` (the maker's,
        since the provider's own is not known), `region` (the global price), `alias` (the
        name stands for another model).
*/
select
    -- keys
    source,
    provider,
    model,
    service_tier,
    region,
    -- facts
    vendor,
    canonical_model,
    price_channel,
    price_region,
    price_tier,
    context_variant,
    effort,
    seller,
    list_model,
    price_assumptions,
    unpriced_because
from meta.price_offers
