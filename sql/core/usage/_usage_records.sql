/*
One row per record of usage of all families of formats: a billed call, or a copy that
dropped_by gives the reason for.

grain   source, stream_id, generation, seq, part
key     source, session_id
checks  not_null(usage_id)
why     core.usage are the rows that no rule drops and core.usage_copies the others, so
        each record is in exactly one of them. Formats name a request by its message,
        show running totals (counters, snapshots), give a total that has more than its
        calls, or report at the end of a run; each family is one model of this shape.
*/
with
    families as (
        from core._message_calls
        union all by name
        from core._counter_calls
        union all by name
        from core._snapshot_calls
        union all by name
        from core._remainders
        union all by name
        from core._run_segment_calls
        union all by name
        from core._run_segment_replies
    )

select
    -- keys
    records.source,
    records.usage_id,
    records.session_id,
    records.agent_id,
    records.message_id,
    -- facts
    records.dropped_by,
    records.provider,
    coalesce(models.model, records.model) as model,
    records.called_at,
    records.input_tokens,
    records.cache_read_tokens,
    records.cache_write_tokens,
    records.cache_write_1h_tokens,
    records.output_tokens,
    records.reasoning_tokens,
    records.web_search_requests,
    coalesce(records.service_tier, models.service_tier) as service_tier,
    records.region,
    records.granularity,
    records.unit,
    records.calls,
    records.amount,
    records.is_estimated,
    records.has_hourly_windows,
    records.is_total,
    -- exact: a sum of floats depends on the order in which it is made
    cast(records.reported_cost_usd as decimal(18, 6)) as reported_cost_usd,
    records.copies,
    -- lineage
    records.stream_id,
    records.generation,
    records.seq,
    records.part
from families as records
left join
    core._usage_models as models
    on models.source = records.source
    and models.stream_id = records.stream_id
    and models.generation = records.generation
    and models.seq = records.seq
    and models.part = records.part
