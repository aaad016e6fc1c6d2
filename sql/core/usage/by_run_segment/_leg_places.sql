/*
One row per reply that tells its output, and per call told on its own, with its leg.

grain   source, stream_id, generation, seq, part
only    staging.usage where kind in ('leg', 'reply')
why     Replies stand in the stream of the run, calls in a database or an export that
        know nothing of runs: what they have in common is the time. What was before the
        first leg is the first leg's.
*/
with
    legs as (
        select
            source,
            session_id,
            leg,
            ended_by,
            if(
                row_number() over (partition by source, session_id order by leg) = 1,
                timestamptz '-infinity',
                began_at
            ) as began_at
        from core._legs
    ),
    records as (
        select *, coalesce(called_at, timestamptz 'infinity') as happened_at
        from staging.usage
        where kind = 'reply' or (kind = 'call' and scope is not null)
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
    records.model,
    records.called_at,
    records.output_tokens,
    legs.leg,
    legs.ended_by
from records
asof inner join
    legs
    on legs.source = records.source
    and legs.session_id = records.session_id
    and legs.began_at <= records.happened_at
