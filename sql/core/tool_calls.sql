/*
One row per call of a tool, with its result.

grain   source, session_id, tool_call_id
key     source, session_id
checks  not_null(status); expect(status in ('done', 'failed', 'no_result'))
why     Forks and subagents repeat calls under the same id: a call belongs to the
        session of its message. Results come in pieces (output, duration, exit code)
        and may lie in a file of their own. A call without result was interrupted,
        or its result is not written yet.
*/
with
    occurrences as (
        select
            calls.source,
            calls.session_id as found_in,
            coalesce(owners.session_id, calls.session_id) as owner_id,
            replays.parent_session_id,
            coalesce(
                calls.seq > replays.head_seq and calls.seq < replays.own_from_seq, false
            ) as is_replay,
            calls.tool_call_id,
            calls.message_id,
            calls.agent_id,
            calls.called_at,
            calls.stream_id,
            calls.generation,
            calls.seq,
            calls.part
        from staging.tool_calls as calls
        left join
            core._message_owners as owners
            on owners.source = calls.source
            and owners.message_id = calls.message_id
        left join
            core._replays as replays
            on replays.source = calls.source
            and replays.stream_id = calls.stream_id
            and replays.generation = calls.generation
    ),
    originals as (
        select
            above.source,
            above.session_id,
            calls.tool_call_id,
            min(calls.owner_id) as owner_id
        from core._ancestors as above
        inner join
            occurrences as calls
            on calls.source = above.source
            and calls.found_in = above.ancestor_id
        where not calls.is_replay
        group by all
    ),
    calls as (
        select
            occurrences.* exclude (owner_id, parent_session_id, is_replay),
            case
                when not occurrences.is_replay
                then occurrences.owner_id
                else
                    coalesce(
                        originals.owner_id,
                        occurrences.parent_session_id,
                        occurrences.found_in
                    )
            end as session_id
        from occurrences
        left join
            originals
            on originals.source = occurrences.source
            and originals.session_id = occurrences.found_in
            and originals.tool_call_id = occurrences.tool_call_id
    ),
    first_seen as (
        select *
        from calls
        qualify
            row_number() over (
                partition by source, session_id, tool_call_id
                order by
                    called_at nulls last,
                    found_in <> session_id,
                    agent_id nulls first,
                    generation,
                    seq,
                    stream_id
            )
            = 1
    ),
    places as (select distinct source, found_in, tool_call_id, session_id from calls),
    results as (
        select
            results.source,
            places.session_id,
            results.tool_call_id,
            arg_min(
                (results.stream_id, results.generation, results.seq, results.part),
                (coalesce(agent_id, ''), results.generation, results.seq)
            ) filter (where results.text is not null) as best,
            max(results.ref) as ref,
            bool_or(results.is_error) as is_error,
            min(results.finished_at) as finished_at,
            max(results.duration_ms) as duration_ms
        from staging.tool_results as results
        inner join
            places
            on places.source = results.source
            and places.found_in = results.session_id
            and places.tool_call_id = results.tool_call_id
        group by all
    )

select
    -- keys
    first_seen.source,
    first_seen.session_id,
    first_seen.tool_call_id,
    first_seen.message_id,
    first_seen.agent_id,
    -- facts
    calls.name,
    cast(calls.input as json) as input,
    first_seen.called_at,
    coalesce(spills.text, outputs.text) as result_text,
    results.ref as result_ref,
    results.is_error,
    results.finished_at,
    coalesce(
        results.duration_ms,
        date_diff('millisecond', first_seen.called_at, results.finished_at)
    ) as duration_ms,
    case
        when results.tool_call_id is null
        then 'no_result'
        when results.is_error
        then 'failed'
        else 'done'
    end as status,
    -- lineage
    first_seen.stream_id,
    first_seen.generation,
    first_seen.seq
from first_seen
inner join
    staging.tool_calls as calls
    on calls.source = first_seen.source
    and calls.session_id = first_seen.found_in
    and calls.stream_id = first_seen.stream_id
    and calls.generation = first_seen.generation
    and calls.seq = first_seen.seq
    and calls.part = first_seen.part
left join
    results
    on results.source = first_seen.source
    and results.session_id = first_seen.session_id
    and results.tool_call_id = first_seen.tool_call_id
left join
    staging.tool_results as outputs
    on outputs.source = first_seen.source
    and outputs.stream_id = results.best[1]
    and outputs.generation = results.best[2]
    and outputs.seq = results.best[3]
    and outputs.part = results.best[4]
left join
    (
        select source, session_id, ref, arg_max(text, (generation, load_id)) as text
        from staging.spills
        group by all
    ) as spills
    on spills.source = first_seen.source
    and spills.session_id = first_seen.found_in
    and spills.ref = regexp_extract(results.ref, '[^/\\]+$')
