/*
One row per call of a tool, with its result, and with the places of its texts; and one
per text of a result whose call is not there.

grain   source, session_id, tool_call_id
key     source, session_id
why     Of several copies of one call the first counts; where a file writes the call
        again because its input grew, the last of them. Results come in pieces (output,
        duration, exit code), again in each copy of the call, and may lie in a file of
        their own. The call of a result may be gone: its record was cut off, or trimmed.
        Texts are nearly all of the data and stand in staging already, so
        only their places are kept; core.tool_calls fetches them.
*/
with
    copies as (
        select
            source,
            session_id,
            tool_call_id,
            found_in,
            message_id,
            agent_id,
            stream_id,
            generation,
            min(called_at) as called_at,
            min(struct_pack(seq, part)) as earliest,
            arg_max(struct_pack(seq, part), (seq, - part)) as latest
        from core._tool_call_places
        group by all
    ),
    calls as (
        select
            copies.source,
            copies.session_id,
            copies.tool_call_id,
            arg_min(
                struct_pack(
                    found_in := copies.found_in,
                    message_id := copies.message_id,
                    stream_id := copies.stream_id,
                    generation := copies.generation,
                    seq := copies.latest.seq,
                    part := copies.latest.part,
                    called_at := copies.called_at
                ),
                (
                    coalesce(copies.called_at, timestamptz 'infinity'),
                    copies.found_in <> copies.session_id,
                    coalesce(copies.agent_id, ''),
                    copies.generation,
                    copies.earliest.seq,
                    copies.stream_id,
                    copies.earliest.part
                )
            ) as place,
            count(results.tool_call_id) > 0 as has_result,
            min(results.text_place) as text_place,
            max(results.ref) as result_ref,
            bool_or(results.is_error) as is_error,
            min(results.finished_at) as finished_at,
            max(results.duration_ms) as duration_ms
        from copies
        left join
            core._tool_results as results
            on results.source = copies.source
            and results.session_id = copies.found_in
            and results.tool_call_id = copies.tool_call_id
        group by all
    ),
    uncalled as (
        select results.*
        from core._tool_results as results
        anti join
            staging.tool_calls as asked
            on asked.source = results.source
            and asked.session_id = results.session_id
            and asked.tool_call_id = results.tool_call_id
        where results.text_place is not null
    )

select
    -- keys
    calls.source,
    calls.session_id,
    calls.tool_call_id,
    calls.place.message_id as message_id,
    asked.agent_id,
    -- facts
    asked.name,
    calls.place.called_at as called_at,
    calls.result_ref,
    calls.is_error,
    calls.finished_at,
    coalesce(
        calls.duration_ms,
        date_diff('millisecond', calls.place.called_at, calls.finished_at)
    ) as duration_ms,
    case
        when not calls.has_result
        then 'no_result'
        when calls.is_error
        then 'failed'
        else 'done'
    end as status,
    -- lineage
    calls.place.found_in as found_in,
    asked.stream_id,
    asked.generation,
    asked.seq,
    asked.part,
    calls.text_place.stream_id as text_stream_id,
    calls.text_place.generation as text_generation,
    calls.text_place.seq as text_seq,
    calls.text_place.part as text_part
from calls
inner join
    staging.tool_calls as asked
    on asked.source = calls.source
    and asked.session_id = calls.place.found_in
    and asked.stream_id = calls.place.stream_id
    and asked.generation = calls.place.generation
    and asked.seq = calls.place.seq
    and asked.part = calls.place.part
union all by name
select
    uncalled.source,
    uncalled.session_id,
    uncalled.tool_call_id,
    answers.message_id,
    answers.agent_id,
    uncalled.ref as result_ref,
    uncalled.is_error,
    uncalled.finished_at,
    uncalled.duration_ms,
    'no_call' as status,
    uncalled.session_id as found_in,
    answers.stream_id,
    answers.generation,
    answers.seq,
    answers.stream_id as text_stream_id,
    answers.generation as text_generation,
    answers.seq as text_seq,
    answers.part as text_part
from uncalled
inner join
    staging.tool_results as answers
    on answers.source = uncalled.source
    and answers.session_id = uncalled.session_id
    and answers.stream_id = uncalled.text_place.stream_id
    and answers.generation = uncalled.text_place.generation
    and answers.seq = uncalled.text_place.seq
    and answers.part = uncalled.text_place.part
