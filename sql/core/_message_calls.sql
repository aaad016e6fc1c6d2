/*
One row per record that shows the usage of a request, in formats that name the request
by its message; rank 1 is the record that is the bill.

grain   source, stream_id, generation, seq, part
why     A reply is written once per content block and each time repeats the usage as
        far as it was known then; resumed, forked and branched sessions repeat it in
        further files. So one whole record per message counts: the largest output,
        then the one that knows its end, then the latest. One id with two requests
        whose prompts differ is an id that a gateway used twice: two calls.
*/
with
    rows as (
        select
            *,
            coalesce(
                nullif(message_id, ''),
                nullif(request_id, ''),
                coalesce(request_session_id, forked_from_session_id, session_id)
                || ':'
                || coalesce(record_id, stream_id || '.' || seq)
            ) as call_key,
            coalesce(input_tokens, 0)
            || '/'
            || coalesce(cache_read_tokens, 0)
            || '/'
            || coalesce(cache_write_tokens, 0) as prompt
        from staging.usage
        where kind = 'call'
    ),
    requests as (
        select
            source,
            call_key,
            request_id,
            arg_max(prompt, coalesce(output_tokens, -1)) as prompt
        from rows
        where request_id <> '' and call_part = ''
        group by all
    ),
    reused as (
        select source, call_key, min(request_id) as first_request_id
        from requests
        where prompt <> '0/0/0'
        group by all
        having count(distinct prompt) > 1
    ),
    keyed as (
        select
            rows.* exclude (call_key, prompt),
            case
                when reused.call_key is null
                then rows.call_key
                else
                    rows.call_key
                    || '@'
                    || coalesce(nullif(rows.request_id, ''), reused.first_request_id)
            end as call_key,
            coalesce(
                rows.request_session_id, rows.forked_from_session_id, rows.session_id
            ) as candidate_id,
            coalesce(rows.request_session_id, rows.forked_from_session_id)
            is not null as is_marked,
            coalesce(starts.first_at, 'infinity'::timestamptz) as candidate_at
        from rows
        left join
            reused on reused.source = rows.source and reused.call_key = rows.call_key
        left join
            core._session_starts as starts
            on starts.source = rows.source
            and starts.session_id = coalesce(
                rows.request_session_id, rows.forked_from_session_id, rows.session_id
            )
    )

select
    *,
    call_key || if(call_part = '', '', '#' || call_part) as usage_id,
    row_number() over best as rank,
    count(*) over same - 1 as copies,
    min(called_at) over same as first_at,
    max(reported_cost_usd) over same as call_cost_usd,
    first_value(candidate_id) over (
        same order by is_marked, candidate_at, candidate_id
    ) as owner_session_id,
    first_value(agent_id) over (
        same
        order by
            is_marked,
            candidate_at,
            candidate_id,
            called_at nulls last,
            agent_id nulls first
    ) as owner_agent_id,
    call_part = ''
    and bool_or(starts_with(call_part, 'fallback:')) over (
        partition by source, call_key
    ) as is_replaced
from keyed
window
    same as (partition by source, call_key, call_part),
    best as (
        partition by source, call_key, call_part
        order by
            output_tokens desc nulls last,
            is_final desc nulls last,
            called_at desc nulls last,
            generation desc,
            seq desc,
            stream_id
    )
