/*
One row per call that used nothing and said nothing: there was no request.

grain   source, call_key, call_part
why     A reply that was stopped, or that failed, has a record with zeros. One of zeros
        that has content was answered by somebody whose usage nobody reported.
*/
with
    unused as (
        select source, call_key, call_part, max(message_id) as message_id
        from core._usage_keys
        where unit = 'tokens'
        group by all
        having
            count(message_id) > 0
            and count(input_tokens) + count(output_tokens) > 0
            and max(
                coalesce(input_tokens, 0)
                + coalesce(cache_read_tokens, 0)
                + coalesce(cache_write_tokens, 0)
                + coalesce(output_tokens, 0)
                + coalesce(web_search_requests, 0)
            )
            = 0
            and coalesce(max(reported_cost_usd), 0) = 0
    )

select unused.source, unused.call_key, unused.call_part
from unused
anti join
    staging.blocks as blocks
    on blocks.source = unused.source
    and blocks.message_id = unused.message_id
