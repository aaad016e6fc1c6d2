/*
One row per record in which the end of a run segment reports a model; dropped_by says why
it is no usage of its own, null that it is.

grain   source, stream_id, generation, seq, part
only    staging.usage where kind = 'run_segment'
why     Of a total, the segment has what the total before it did not have; one that fell
        began anew, and is all the segment's. Where calls of the segment have records of
        their own (in a database, an export), these count instead.
*/
with
    covered as (
        select
            source,
            session_id,
            segment,
            list(distinct spelling) as spellings,
            bool_or(spelling is null) as is_any
        from core._run_segment_places
        where kind = 'call'
        group by all
    ),
    steps as (
        select
            totals.*,
            ends.segment,
            ends.is_less,
            totals.input_tokens
            - coalesce(previous.input_tokens, 0) as more_input_tokens,
            totals.cache_read_tokens
            - coalesce(previous.cache_read_tokens, 0) as more_cache_read_tokens,
            totals.cache_write_tokens
            - coalesce(previous.cache_write_tokens, 0) as more_cache_write_tokens,
            totals.output_tokens
            - coalesce(previous.output_tokens, 0) as more_output_tokens,
            totals.reasoning_tokens
            - coalesce(previous.reasoning_tokens, 0) as more_reasoning_tokens,
            totals.reported_cost_usd
            - coalesce(previous.reported_cost_usd, 0) as more_cost_usd,
            totals.requests - coalesce(previous.requests, 0) as more_requests,
            ends.is_total
            and least(
                more_input_tokens,
                more_cache_read_tokens,
                more_cache_write_tokens,
                more_output_tokens,
                more_reasoning_tokens
            )
            >= 0 as is_step
        from core._run_segment_totals as totals
        inner join
            core._run_segment_ends as ends
            on ends.source = totals.source
            and ends.session_id = totals.session_id
            and ends.record_id = totals.record_id
        left join
            core._run_segment_totals as previous
            on previous.source = totals.source
            and previous.session_id = totals.session_id
            and previous.record_id = ends.record_before
            and previous.model is not distinct from totals.model
    ),
    reported as (
        select
            records.source,
            records.stream_id,
            records.generation,
            records.seq,
            records.part,
            records.session_id
            || ':'
            || records.record_id
            || ':'
            || coalesce(records.model, '') as usage_id,
            records.session_id,
            records.agent_id,
            records.provider,
            records.model,
            steps.happened_at as called_at,
            if(
                steps.is_step, steps.more_input_tokens, steps.input_tokens
            ) as input_tokens,
            if(
                steps.is_step, steps.more_cache_read_tokens, steps.cache_read_tokens
            ) as cache_read_tokens,
            if(
                steps.is_step, steps.more_cache_write_tokens, steps.cache_write_tokens
            ) as cache_write_tokens,
            if(
                steps.is_step, steps.more_output_tokens, steps.output_tokens
            ) as output_tokens,
            if(
                steps.is_step, steps.more_reasoning_tokens, steps.reasoning_tokens
            ) as reasoning_tokens,
            if(
                steps.is_step, steps.more_cost_usd, steps.reported_cost_usd
            ) as reported_cost_usd,
            cast(
                if(
                    steps.is_step and steps.more_requests >= 0,
                    steps.more_requests,
                    steps.requests
                ) as bigint
            ) as calls,
            steps.is_less,
            steps.copies,
            steps.bill,
            coalesce(
                covered.is_any
                or records.model is null
                and covered.segment is not null
                or list_contains(covered.spellings, spelling_of(records.model)),
                false
            ) as is_covered
        from staging.usage as records
        inner join
            steps
            on steps.source = records.source
            and steps.session_id = records.session_id
            and steps.record_id = records.record_id
            and steps.model is not distinct from records.model
        left join
            covered
            on covered.source = records.source
            and covered.session_id = records.session_id
            and covered.segment = steps.segment
        where records.kind = 'run_segment'
    )

select
    * exclude (bill, is_covered, is_less),
    'session' as granularity,
    'tokens' as unit,
    is_less as is_estimated,
    case
        when
            (stream_id, generation, seq, part)
            <> (bill.stream_id, bill.generation, bill.seq, bill.part)
        then 'same_event'
        when is_covered
        then 'calls_count'
        when
            coalesce(input_tokens, 0)
            + coalesce(cache_read_tokens, 0)
            + coalesce(output_tokens, 0)
            = 0
        then 'no_request'
    end as dropped_by
from reported
