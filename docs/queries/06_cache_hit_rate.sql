/*
How much of each prompt came from the cache

A prompt is input, cache_read and cache_write tokens together; the three are disjoint.
*/
select
    model,
    round(
        100.0
        * sum(cache_read_tokens)
        / sum(
            coalesce(input_tokens, 0)
            + coalesce(cache_read_tokens, 0)
            + coalesce(cache_write_tokens, 0)
        ),
        1
    ) as hit_percent
from core.usage
where unit = 'tokens'
group by all
order by hit_percent desc nulls last
