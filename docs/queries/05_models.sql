/*
What a thousand output tokens cost in the end, by model

All of the cost, prompts included, over what came out.
*/
select
    model,
    calls,
    cost_usd,
    round(1000 * cost_usd / output_tokens, 4) as usd_per_1000_output
from marts.model_usage
order by cost_usd desc nulls last
