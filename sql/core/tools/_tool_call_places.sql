/*
One row per record of a tool call, with the session to which the call belongs.

grain   source, stream_id, generation, seq, part
why     Forks and subagents repeat calls under the same id. A call belongs to the
        session of its message; in the part of a thread that repeats its parent, where
        messages have no ids to go by, to the session in which an ancestor has it, or
        the thread whose totals it repeats: a resume need not name its parent.
*/
with
    found as (
        select
            calls.source,
            calls.session_id as found_in,
            coalesce(owners.session_id, calls.session_id) as owner_id,
            replays.parent_session_id,
            is_replay(calls.seq, replays.head_seq, replays.own_from_seq) as is_replay,
            calls.tool_call_id,
            id_of_reply(calls.message_id, apart.began_us) as message_id,
            calls.agent_id,
            calls.called_at,
            calls.stream_id,
            calls.generation,
            calls.seq,
            calls.part
        from staging.tool_calls as calls
        left join
            core._reused_ids as apart
            on apart.source = calls.source
            and apart.stream_id = calls.stream_id
            and apart.generation = calls.generation
            and apart.seq = calls.seq
            and apart.reply_key = calls.message_id
        left join
            core._message_owners as owners
            on owners.source = calls.source
            and owners.message_id = id_of_reply(calls.message_id, apart.began_us)
        left join
            core._replays as replays
            on replays.source = calls.source
            and replays.stream_id = calls.stream_id
            and replays.generation = calls.generation
        anti join
            core._superseded_messages as superseded
            on superseded.source = calls.source
            and superseded.session_id = calls.session_id
            and superseded.message_id = calls.message_id
    ),
    above as (
        select source, session_id, ancestor_id
        from core._ancestors
        union
        select source, session_id, like_session_id as ancestor_id
        from core._replay_runs
    ),
    originals as (
        select
            above.source,
            above.session_id,
            found.tool_call_id,
            min(found.owner_id) as owner_id
        from above
        inner join
            found on found.source = above.source and found.found_in = above.ancestor_id
        where not found.is_replay
        group by all
    )

select
    found.source,
    found.found_in,
    found.tool_call_id,
    found.message_id,
    found.agent_id,
    found.called_at,
    found.stream_id,
    found.generation,
    found.seq,
    found.part,
    if(
        found.is_replay,
        coalesce(originals.owner_id, found.parent_session_id, found.found_in),
        found.owner_id
    ) as session_id
from found
left join
    originals
    on originals.source = found.source
    and originals.session_id = found.found_in
    and originals.tool_call_id = found.tool_call_id
