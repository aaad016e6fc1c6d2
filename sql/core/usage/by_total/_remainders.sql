/*
One row per record of the total of a scope, with the remainder that nothing else known of
that scope explains; dropped_by says why it is no usage of its own, null that it is.

grain   source, stream_id, generation, seq, part
only    staging.usage where kind = 'scope_total'
why     Some agents keep a total of a session beside its calls, and the total holds
        calls that are written nowhere else (titles, summaries, what was reverted).
        A copied call is not in the total of the session that has the copy.
        Only what is missing from the calls is news; the newest total counts.
*/
with
    placed as (
        select
            *,
            coalesce(usage_key, scope || ':rest') as usage_id,
            row_number() over (
                partition by source, scope
                order by place_of(generation, seq) desc, stream_id asc, part asc
            )
            = 1 as is_newest
        from staging.usage
        where kind = 'scope_total' and scope is not null
    ),
    known as (
        select
            source,
            scope,
            usage_id,
            input_tokens,
            cache_read_tokens,
            cache_write_tokens,
            output_tokens,
            reasoning_tokens,
            reported_cost_usd
        from core._message_calls
        where is_at_home and not is_replaced and not is_superseded and scope is not null
        qualify
            row_number() over (
                partition by source, scope, usage_id
                order by
                    dropped_by is null desc,
                    output_tokens desc nulls last,
                    generation desc,
                    seq desc,
                    stream_id asc,
                    part asc
            )
            = 1
        union all by name
        select
            source,
            scope,
            usage_id,
            input_tokens,
            cache_read_tokens,
            cache_write_tokens,
            output_tokens,
            reasoning_tokens,
            reported_cost_usd
        from core._snapshots
        where not is_superseded and scope is not null
    ),
    sums as (
        select
            source,
            scope,
            sum(input_tokens) as input_tokens,
            sum(cache_read_tokens) as cache_read_tokens,
            sum(cache_write_tokens) as cache_write_tokens,
            sum(output_tokens) as output_tokens,
            sum(reasoning_tokens) as reasoning_tokens,
            sum(reported_cost_usd) as reported_cost_usd
        from known
        group by all
    )

select
    placed.source,
    placed.stream_id,
    placed.generation,
    placed.seq,
    placed.part,
    placed.usage_id,
    placed.session_id,
    placed.agent_id,
    placed.message_id,
    placed.provider,
    placed.model,
    placed.called_at,
    placed.service_tier,
    placed.granularity,
    'tokens' as unit,
    placed.is_estimated,
    cast(beyond(placed.input_tokens, sums.input_tokens) as bigint) as input_tokens,
    cast(
        beyond(placed.cache_read_tokens, sums.cache_read_tokens) as bigint
    ) as cache_read_tokens,
    cast(
        beyond(placed.cache_write_tokens, sums.cache_write_tokens) as bigint
    ) as cache_write_tokens,
    cast(beyond(placed.output_tokens, sums.output_tokens) as bigint) as output_tokens,
    cast(
        beyond(placed.reasoning_tokens, sums.reasoning_tokens) as bigint
    ) as reasoning_tokens,
    beyond(placed.reported_cost_usd, sums.reported_cost_usd) as reported_cost_usd,
    0 as copies,
    case
        when not placed.is_newest
        then 'earlier_total'
        when
            coalesce(
                greatest(
                    placed.input_tokens - coalesce(sums.input_tokens, 0),
                    placed.cache_read_tokens - coalesce(sums.cache_read_tokens, 0),
                    placed.cache_write_tokens - coalesce(sums.cache_write_tokens, 0),
                    placed.output_tokens - coalesce(sums.output_tokens, 0)
                ),
                0
            )
            <= 0
        then 'no_remainder'
    end as dropped_by
from placed
left join sums on sums.source = placed.source and sums.scope = placed.scope
