/*
One row per session, model and counter of the agent's own, with the last total that it reported.

grain   source, session_id, model, counter
why     An account that an agent keeps of itself is written again and again as it grows; a
        running total stands beside the calls. The largest, or last, is the whole.
*/
select
    usage.source,
    usage.session_id,
    usage.model,
    usage.counter,
    arg_max(usage.reported_cost_usd, usage.output_tokens) as reported_cost_usd,
    arg_max(prompt_of(usage), usage.output_tokens) as reported_prompt_tokens,
    max(usage.output_tokens) as reported_output_tokens,
    max(usage.tokens) as reported_tokens
from staging.reported_totals as usage
group by usage.source, usage.session_id, usage.model, usage.counter
union all by name
select
    source,
    session_id,
    null as model,
    'running_total' as counter,
    arg_max(
        coalesce(total_input_tokens, 0)
        + coalesce(total_cache_read_tokens, 0)
        + coalesce(total_cache_write_tokens, 0),
        place_of(generation, seq)
    ) as reported_prompt_tokens,
    arg_max(total_output_tokens, place_of(generation, seq)) as reported_output_tokens
from staging.usage
where kind = 'counter' and total_output_tokens is not null
group by all
