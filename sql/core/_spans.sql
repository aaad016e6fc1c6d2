/*
One row per session or subagent with the time of its first and its last own record.

grain   source, session_id, agent_id
why     Copied messages keep the time of the original, or carry the time of the copy:
        neither is this session's. In formats with turns every own record counts, as
        a thread begins with its header and ends with what closes its last turn.
*/
with
    moments as (
        select source, session_id, agent_id, sent_at as moment
        from core.messages
        where not is_copied
        union all
        select source, session_id, null as agent_id, head_at as moment
        from core._thread_heads
        union all
        select
            turns.source, turns.session_id, null as agent_id, turns.began_at as moment
        from staging.turns as turns
        left join core._replays as replays using (source, stream_id, generation)
        where turns.seq >= coalesce(replays.own_from_seq, 0)
        union all
        select usage.source, usage.session_id, usage.agent_id, usage.called_at as moment
        from staging.usage as usage
        left join core._replays as replays using (source, stream_id, generation)
        where
            usage.kind in ('counter', 'record')
            and usage.seq >= coalesce(replays.own_from_seq, 0)
    )

select source, session_id, agent_id, min(moment) as started_at, max(moment) as ended_at
from moments
group by all
