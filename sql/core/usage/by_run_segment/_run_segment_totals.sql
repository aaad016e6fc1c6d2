/*
One row per model and end of a run segment, with the counts that the end reports of it.

grain   source, session_id, record_id, model
only    staging.usage where kind = 'run_segment'
why     The same event lies in two files, or was read again after a rewrite: it counts
        once, from its first place.
*/
select
    source,
    session_id,
    record_id,
    model,
    min(called_at) as happened_at,
    min(
        struct_pack(
            generation := generation, seq := seq, stream_id := stream_id, part := part
        )
    ) as bill,
    max(input_tokens) as input_tokens,
    max(cache_read_tokens) as cache_read_tokens,
    max(cache_write_tokens) as cache_write_tokens,
    max(output_tokens) as output_tokens,
    max(reasoning_tokens) as reasoning_tokens,
    max(reported_cost_usd) as reported_cost_usd,
    max(amount) as requests,
    count(*) - 1 as copies
from staging.usage
where kind = 'run_segment'
group by all
