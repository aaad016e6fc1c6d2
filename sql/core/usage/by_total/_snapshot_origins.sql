/*
One row per running total that goes on from that of another session, with the latter as
it was then.

grain   source, usage_id
only    staging.usage where kind = 'snapshot'
why     A session that was made from another one (by a compaction, by going back) may
        take its counters along, or begin at 0. No record says which: they were taken
        along if its first total holds the last one of its origin.
*/
with
    totals as (
        select
            source,
            session_id,
            coalesce(usage_key, session_id || ':' || coalesce(model, '')) as usage_id,
            forked_from_session_id,
            called_at,
            (called_at, place_of(generation, seq), stream_id, part) as place,
            coalesce(input_tokens, 0)
            + coalesce(cache_read_tokens, 0)
            + coalesce(cache_write_tokens, 0) as prompt_tokens,
            coalesce(output_tokens, 0) as reply_tokens,
            coalesce(ordinal, 0) as ordinal,
            struct_pack(
                input_tokens := input_tokens,
                cache_read_tokens := cache_read_tokens,
                cache_write_tokens := cache_write_tokens,
                output_tokens := output_tokens,
                reasoning_tokens := reasoning_tokens,
                reported_cost_usd := reported_cost_usd
            ) as counts
        from staging.usage
        where kind = 'snapshot' and unit = 'tokens'
    ),
    firsts as (
        select *
        from totals
        where forked_from_session_id is not null
        qualify row_number() over (partition by source, usage_id order by place) = 1
    ),
    lasts as (
        select
            firsts.source,
            firsts.usage_id,
            arg_max(
                struct_pack(
                    counts := origins.counts,
                    is_held := firsts.prompt_tokens >= origins.prompt_tokens
                    and firsts.reply_tokens >= origins.reply_tokens
                    and firsts.ordinal >= origins.ordinal
                ),
                origins.place
            ) as origin
        from firsts
        inner join
            totals as origins
            on origins.source = firsts.source
            and origins.session_id = firsts.forked_from_session_id
            and origins.usage_id <> firsts.usage_id
            and origins.called_at <= firsts.called_at
        group by all
    )

select source, usage_id, origin.counts as counts
from lasts
where origin.is_held
