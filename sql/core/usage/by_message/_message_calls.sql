/*
One row per record that shows the usage of a request, in formats that name the request
by its message; dropped_by says why it is no call of its own, null that it is.

grain   source, stream_id, generation, seq, part
why     A reply is written once per content block and each time repeats the usage as
        far as it was known then; resumed, forked and branched sessions repeat it in
        further files. So one whole record per call counts: the largest output, then
        the one that knows its end, then the latest. The call belongs to the session
        to which a message would (core._message_owners). If other records supersede
        the call there, they supersede its copies. A call whose parts have records of
        their own counts as these. A copy keeps its own session and time.
*/
with
    keyed as (
        select
            records.*,
            (
                coalesce(began.first_at, timestamptz 'infinity'),
                coalesce(began.last_at, timestamptz 'infinity')
            ) as named_at
        from core._usage_keys as records
        left join
            core._session_starts as began
            on began.source = records.source
            and began.session_id = records.named_id
    ),
    fallbacks as (
        select distinct source, call_key
        from keyed
        where
            not is_superseded
            and (starts_with(call_part, 'fallback:') or starts_with(call_part, 'step:'))
    ),
    calls as (
        select
            source,
            call_key,
            call_part,
            call_key || if(call_part = '', '', '#' || call_part) as usage_id,
            count(*) - 1 as copies,
            min(called_at) as first_at,
            max(reported_cost_usd) as call_cost_usd,
            arg_max(
                (stream_id, generation, seq, part),
                (
                    not is_superseded,
                    coalesce(output_tokens, -1),
                    coalesce(cast(is_final as integer), -1),
                    coalesce(called_at, timestamptz '-infinity'),
                    generation,
                    seq,
                    - stream_id,
                    - part
                )
            ) as bill,
            arg_min(
                struct_pack(session_id := named_id, agent_id := agent_id),
                (
                    is_inferred,
                    named_at,
                    named_id,
                    coalesce(called_at, timestamptz 'infinity'),
                    coalesce(agent_id, '')
                )
            ) as owned_by,
            arg_min(
                is_superseded, (is_inferred, named_at, named_id, is_superseded)
            ) as is_owner_superseded
        from keyed
        group by all
    ),
    judged as (
        select
            keyed.*,
            calls.usage_id,
            calls.owned_by,
            calls.first_at,
            calls.call_cost_usd,
            calls.copies,
            (keyed.stream_id, keyed.generation, keyed.seq, keyed.part)
            = calls.bill as is_bill,
            keyed.is_superseded or calls.is_owner_superseded as is_call_superseded,
            keyed.call_part = '' and fallbacks.call_key is not null as is_replaced,
            case
                when zeros.call_key is not null
                then 'no_request'
                when not is_bill
                then 'same_message'
                when is_call_superseded
                then 'superseded'
                when is_replaced
                then 'parts_count'
            end as dropped_by
        from keyed
        inner join
            calls
            on calls.source = keyed.source
            and calls.call_key = keyed.call_key
            and calls.call_part = keyed.call_part
        left join
            fallbacks
            on fallbacks.source = keyed.source
            and fallbacks.call_key = keyed.call_key
        left join
            core._empty_calls as zeros
            on zeros.source = keyed.source
            and zeros.call_key = keyed.call_key
            and zeros.call_part = keyed.call_part
    )

select
    judged.source,
    judged.stream_id,
    judged.generation,
    judged.seq,
    judged.part,
    judged.usage_id,
    if(
        judged.dropped_by is null, judged.owned_by.session_id, judged.session_id
    ) as session_id,
    if(
        judged.dropped_by is null, judged.owned_by.agent_id, judged.agent_id
    ) as agent_id,
    judged.message_id,
    judged.provider,
    judged.model,
    if(judged.dropped_by is null, judged.first_at, judged.called_at) as called_at,
    judged.input_tokens,
    judged.cache_read_tokens,
    judged.cache_write_tokens,
    judged.cache_write_1h_tokens,
    judged.output_tokens,
    judged.reasoning_tokens,
    if(
        judged.call_part = '',
        greatest(judged.web_search_requests, searches.search_count),
        judged.web_search_requests
    ) as web_search_requests,
    judged.service_tier,
    judged.region,
    judged.granularity,
    judged.unit,
    judged.amount,
    judged.is_estimated,
    judged.has_hourly_windows,
    judged.call_cost_usd as reported_cost_usd,
    judged.copies,
    judged.scope,
    judged.session_id = judged.owned_by.session_id as is_at_home,
    judged.is_call_superseded as is_superseded,
    judged.is_replaced,
    judged.dropped_by
from judged
left join
    core._message_searches as searches
    on searches.source = judged.source
    and searches.message_id = judged.message_id
