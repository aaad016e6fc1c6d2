/*
One row per call of a tool that has a result, and session in which it was found.

grain   source, session_id, tool_call_id
why     A result comes in pieces (output, duration, exit code), and again in each copy
        of the call. Of its text only the place is kept: the first piece that has one.
*/
select
    source,
    session_id,
    tool_call_id,
    min(
        struct_pack(
            agent := coalesce(agent_id, ''),
            generation := generation,
            seq := seq,
            stream_id := stream_id,
            part := part
        )
    ) filter (where text_hash is not null) as text_place,
    max(ref) as ref,
    bool_or(is_error) as is_error,
    min(finished_at) as finished_at,
    max(duration_ms) as duration_ms
from staging.tool_results
group by all
