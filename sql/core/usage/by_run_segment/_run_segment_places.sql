/*
One row per reply with an output, and per call with a record of its own, with the run
segment in which it was made.

grain   source, stream_id, generation, seq, part
only    staging.usage where kind in ('run_segment', 'reply_output')
why     Replies stand in the stream of the run, calls in a database or an export that
        know nothing of runs: what they have in common is the time. What was before the
        first segment is the first segment's. A reply need not name its model: then it
        is the one that was set. Models are compared in any spelling.
*/
with
    segments as (
        select
            source,
            session_id,
            segment,
            ended_by,
            if(
                row_number() over (partition by source, session_id order by segment)
                = 1,
                timestamptz '-infinity',
                began_at
            ) as began_at
        from core._run_segments
    ),
    records as (
        select *, coalesce(called_at, timestamptz 'infinity') as happened_at
        from staging.usage
        where kind = 'reply_output' or (kind = 'call' and scope is not null)
    )

select
    records.source,
    records.stream_id,
    records.generation,
    records.seq,
    records.part,
    records.session_id,
    records.agent_id,
    records.message_id,
    records.kind,
    records.usage_key,
    records.scope,
    records.provider,
    coalesce(records.model, models.model) as model,
    spelling_of(coalesce(records.model, models.model)) as spelling,
    records.called_at,
    records.input_tokens,
    records.cache_read_tokens,
    records.cache_write_tokens,
    records.output_tokens,
    segments.segment,
    segments.ended_by
from records
asof inner join
    segments
    on segments.source = records.source
    and segments.session_id = records.session_id
    and segments.began_at <= records.happened_at
left join
    core._usage_models as models
    on models.source = records.source
    and models.stream_id = records.stream_id
    and models.generation = records.generation
    and models.seq = records.seq
    and models.part = records.part
    and records.model is null
