/*
One row per model and tier whose calls have no cost, or only bounds, with the reason.

grain   source, provider, model, service_tier, region
why     An unknown price is never $0. `settings_line` is what would price it, in the settings
        file: put in the rates, in USD per million tokens, and the next `agentlake load`
        costs history again. `model#tier` prices one tier of a model.
*/
with
    unpriced as (
        select
            usage.*,
            case
                when usage.model is null
                then 'no record names the model'
                when usage.input_tokens is null and usage.output_tokens is null
                then 'no tokens are known'
                when usage.cost_low_usd is not null and usage.called_at is null
                then 'no time is known, and the price has changed'
                when usage.cost_low_usd is not null
                then 'the price depends on what a total hides'
            end as why,
            coalesce(
                named.unpriced_because,
                'no price is known for its date or the size of its prompt'
            ) as why_no_price,
            usage.model || if(
                usage.price_tier <> 'standard', '#' || usage.service_tier, ''
            ) as settings_key
        from core.usage as usage
        left join core.model_names as named on is_offered(usage, named)
        where
            usage.cost_usd is null
            and usage.unit = 'tokens'
            and is_asked_for(usage.called_at)
            and is_chosen(usage.source, usage.session_id)
            and is_chosen_model(usage.model)
    )

select
    source,
    provider,
    model,
    service_tier,
    region,
    string_agg(distinct coalesce(why, why_no_price), '; ') as because,
    if(
        bool_or(why is null),
        'prices."' || any_value(settings_key) || '" = { input = USD, output = USD }',
        null
    ) as settings_line,
    cast(sum(cost_low_usd) as decimal(18, 6)) as cost_low_usd,
    cast(sum(cost_high_usd) as decimal(18, 6)) as cost_high_usd,
    count(*) as unpriced_rows,
    cast(sum(calls) as bigint) as calls,
    cast(sum(input_tokens) as bigint) as input_tokens,
    cast(sum(cache_read_tokens) as bigint) as cache_read_tokens,
    cast(sum(cache_write_tokens) as bigint) as cache_write_tokens,
    cast(sum(output_tokens) as bigint) as output_tokens,
    cast(sum(reported_cost_usd) as decimal(18, 6)) as reported_cost_usd,
    min(called_at) as first_called_at,
    max(called_at) as last_called_at
from unpriced
group by all
order by count(*) desc
