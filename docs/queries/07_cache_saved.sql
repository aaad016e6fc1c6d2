/*
What the cache saved

Each call's cache reads at the full input price, less what they cost. What writing to the cache cost extra is not taken off.
*/
select
    usage.model,
    round(
        sum(usage.cache_read_tokens * (prices.input_usd - prices.cache_read_usd))
        / 1000000,
        2
    ) as saved_usd,
    sum(usage.cost_usd) as cost_usd
from core.usage
inner join core.prices as prices using (price_id)
where usage.model = prices.model
group by all
order by saved_usd desc nulls last
