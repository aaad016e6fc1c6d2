/*
One row per compaction: a session's context that was replaced by its summary.

grain   source, session_id, compaction_id
key     source, session_id
checks  not_null(compaction_id)
why     Copies keep the id: the oldest session has it. Versions without a boundary
        record show only the summary; it counts where no boundary stands beside it.
*/
with
    own as (
        select
            compactions.*,
            (
                coalesce(began.first_at, timestamptz 'infinity'),
                coalesce(began.last_at, timestamptz 'infinity')
            ) as session_at
        from staging.compactions as compactions
        left join
            core._replays as replays
            on replays.source = compactions.source
            and replays.stream_id = compactions.stream_id
            and replays.generation = compactions.generation
        left join
            core._session_starts as began
            on began.source = compactions.source
            and began.session_id = compactions.session_id
        left join
            core._forks as forks
            on forks.source = compactions.source
            and forks.session_id = compactions.session_id
        where
            not is_replay(compactions.seq, replays.head_seq, replays.own_from_seq)
            and not coalesce(compactions.compacted_at < forks.started_at, false)
    ),
    first_seen as (
        select *
        from own
        qualify
            row_number() over (
                partition by source, compaction_id
                order by
                    session_at,
                    session_id,
                    agent_id nulls first,
                    generation,
                    seq,
                    stream_id
            )
            = 1
    )

select
    -- keys
    source,
    session_id,
    compaction_id,
    agent_id,
    -- facts
    trigger,
    compacted_at,
    tokens_before,
    tokens_after,
    -- lineage
    stream_id,
    generation,
    seq
from first_seen
where
    not coalesce(is_summary, false)
    or not exists (
        select 1
        from staging.compactions as boundary
        where
            boundary.source = first_seen.source
            and boundary.session_id = first_seen.session_id
            and not coalesce(boundary.is_summary, false)
            and boundary.compacted_at
            between first_seen.compacted_at
            - interval 1 minute and first_seen.compacted_at
            + interval 1 minute
    )
