/*
One row per running total that is older than the one before it: written late, and no
request of its own.

grain   source, stream_id, generation, seq, part
only    staging.usage where kind = 'counter'
why     A total falls for two reasons. It began anew: then it is what the last request
        used, or the next total builds on it. Or it came out of order: then the
        next total builds on the highest one before it; where no later one tells, a
        fall of about one request is late.
*/
with
    totals as (
        select
            source,
            stream_id,
            generation,
            seq,
            part,
            place_of(generation, seq) as place,
            struct_pack(
                input := total_input_tokens,
                cache_read := total_cache_read_tokens,
                cache_write := total_cache_write_tokens,
                output := total_output_tokens
            ) as total,
            struct_pack(
                input := total_input_tokens - input_tokens,
                cache_read := total_cache_read_tokens - cache_read_tokens,
                cache_write := total_cache_write_tokens - cache_write_tokens,
                output := total_output_tokens - output_tokens
            ) as built_on,
            total_input_tokens
            + total_cache_read_tokens
            + total_cache_write_tokens
            + total_output_tokens as size,
            coalesce(
                input_tokens + cache_read_tokens + cache_write_tokens + output_tokens, 0
            ) as last_size
        from staging.usage
        where
            kind = 'counter'
            and total_input_tokens is not null
            and total_output_tokens is not null
        qualify
            counter is distinct from lag(counter) over (
                partition by source, stream_id order by place, part
            )
    ),
    bases as (
        select distinct source, stream_id, built_on from totals where last_size > 0
    ),
    judged as (
        select totals.*, bases.built_on is not null as is_base
        from totals
        left join
            bases
            on bases.source = totals.source
            and bases.stream_id = totals.stream_id
            and bases.built_on = totals.total
    ),
    falls as (
        select
            *,
            coalesce(
                (
                    size = last_size
                    or (is_base and size < lag(size) over walk)
                    or (
                        size * 100 < lag(size) over walk * 98
                        and size + 2 * last_size < lag(size) over walk
                    )
                )
                and lead(built_on) over walk is distinct from lag(total) over walk,
                false
            ) as begins_anew
        from judged
        window walk as (partition by source, stream_id order by place, part)
    ),
    eras as (
        select
            *,
            count(*) filter (where begins_anew) over (
                partition by source, stream_id order by place, part
            ) as era
        from falls
    ),
    highest as (
        select
            *,
            max(struct_pack(size := size, total := total)) over (
                partition by source, stream_id, era
                order by place, part
                rows between unbounded preceding and 1 preceding
            ) as high
        from eras
    )

select source, stream_id, generation, seq, part
from highest
where not is_base and not begins_anew and size < high.size
