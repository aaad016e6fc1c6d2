/*
One row per call of a tool, with its result; and one per result without its call.

grain   source, session_id, tool_call_id
checks  not_null(status)
why     A call without result was interrupted, or its result is not written yet; a
        result without call (`no_call`, it has no name) keeps its text. Which
        records make a call is decided in core._tool_calls; its texts are fetched from
        where they stand, or from the file to which the agent moved a long output.
*/
with
    spills as (
        select source, session_id, ref, arg_max(text, (generation, load_id)) as text
        from staging.spills
        group by all
    )

select
    -- keys
    calls.source,
    calls.session_id,
    calls.tool_call_id,
    calls.message_id,
    calls.agent_id,
    -- facts
    calls.name,
    cast(asked.input as json) as input,
    calls.called_at,
    coalesce(spills.text, outputs.text) as result_text,
    calls.result_ref,
    calls.is_error,
    calls.finished_at,
    calls.duration_ms,
    calls.status,
    -- lineage
    calls.stream_id,
    calls.generation,
    calls.seq
from core._tool_calls as calls
left join
    staging.tool_calls as asked
    on asked.source = calls.source
    and asked.stream_id = calls.stream_id
    and asked.generation = calls.generation
    and asked.seq = calls.seq
    and asked.part = calls.part
left join
    staging.tool_results as outputs
    on outputs.source = calls.source
    and outputs.stream_id = calls.text_stream_id
    and outputs.generation = calls.text_generation
    and outputs.seq = calls.text_seq
    and outputs.part = calls.text_part
left join
    spills
    on spills.source = calls.source
    and spills.session_id = calls.found_in
    and spills.ref = regexp_extract(calls.result_ref, '[^/\\]+$')
