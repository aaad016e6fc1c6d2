/*
One row per session or subagent with the time of its first and its last own record.

grain   source, session_id, agent_id
why     Copied messages keep the time of the original, or carry the time of the copy:
        neither is this session's. In formats with turns every own record counts, as
        a thread begins with its header and ends with what closes its last turn. Where
        messages have no time, the session's own times are all there is.
*/
with
    untimed as (
        select source, session_id, agent_id
        from core.messages
        group by all
        having count(sent_at) filter (where not is_copied) = 0
    ),
    moments as (
        select source, session_id, agent_id, sent_at as moment
        from core.messages
        where not is_copied
        union all
        select source, session_id, null as agent_id, head_at as moment
        from core._thread_heads
        union all
        select headers.source, headers.session_id, headers.agent_id, headers.started_at
        from staging.sessions as headers
        inner join
            untimed
            on untimed.source = headers.source
            and untimed.session_id = headers.session_id
            and untimed.agent_id is not distinct from headers.agent_id
        union all
        select totals.source, totals.session_id, totals.agent_id, totals.called_at
        from staging.usage as totals
        inner join
            untimed
            on untimed.source = totals.source
            and untimed.session_id = totals.session_id
            and untimed.agent_id is not distinct from totals.agent_id
        where totals.kind = 'snapshot'
        union all
        select
            turns.source, turns.session_id, null as agent_id, turns.began_at as moment
        from staging.turns as turns
        left join core._replays as replays using (source, stream_id, generation)
        where not is_replay(turns.seq, replays.head_seq, replays.own_from_seq)
        union all
        select usage.source, usage.session_id, usage.agent_id, usage.called_at as moment
        from staging.usage as usage
        left join core._replays as replays using (source, stream_id, generation)
        where
            usage.kind in ('counter', 'response')
            and not is_replay(usage.seq, replays.head_seq, replays.own_from_seq)
    )

select source, session_id, agent_id, min(moment) as started_at, max(moment) as ended_at
from moments
group by all
