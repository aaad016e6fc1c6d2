/*
One row per record that shows the usage of a request, in formats that name the request
by its message; is_bill marks the one record of a call that counts.

grain   source, stream_id, generation, seq, part
why     A reply is written once per content block and each time repeats the usage as
        far as it was known then; resumed, forked and branched sessions repeat it in
        further files. So one whole record per call counts: the largest output, then
        the one that knows its end, then the latest. The call belongs to the session
        to which a message would (core._message_owners). What is told better elsewhere
        there, is so for its copies. A call that is told in parts counts as these. What
        used nothing and said nothing was no call.
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
    unused as (
        select source, call_key, call_part, max(message_id) as message_id
        from keyed
        where unit = 'tokens'
        group by all
        having
            count(message_id) > 0
            and count(input_tokens) + count(output_tokens) > 0
            and max(
                coalesce(input_tokens, 0)
                + coalesce(cache_read_tokens, 0)
                + coalesce(cache_write_tokens, 0)
                + coalesce(output_tokens, 0)
                + coalesce(web_search_requests, 0)
            )
            = 0
            and coalesce(max(reported_cost_usd), 0) = 0
    ),
    said as (
        select distinct blocks.source, blocks.message_id
        from staging.blocks as blocks
        semi join
            unused
            on unused.source = blocks.source
            and unused.message_id = blocks.message_id
    ),
    silent as (
        select unused.source, unused.call_key, unused.call_part
        from unused
        anti join
            said on said.source = unused.source and said.message_id = unused.message_id
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
    )

select
    keyed.source,
    keyed.stream_id,
    keyed.generation,
    keyed.seq,
    keyed.part,
    calls.usage_id,
    keyed.session_id,
    keyed.agent_id,
    calls.owned_by.session_id as owner_session_id,
    calls.owned_by.agent_id as owner_agent_id,
    keyed.message_id,
    keyed.call_part,
    keyed.provider,
    keyed.model,
    keyed.called_at,
    keyed.input_tokens,
    keyed.cache_read_tokens,
    keyed.cache_write_tokens,
    keyed.cache_write_1h_tokens,
    keyed.output_tokens,
    keyed.reasoning_tokens,
    keyed.web_search_requests,
    keyed.service_tier,
    keyed.region,
    keyed.granularity,
    keyed.unit,
    keyed.amount,
    keyed.is_estimated,
    keyed.has_hourly_windows,
    keyed.scope,
    keyed.is_superseded or calls.is_owner_superseded as is_superseded,
    calls.first_at,
    calls.call_cost_usd,
    calls.copies,
    (keyed.stream_id, keyed.generation, keyed.seq, keyed.part) = calls.bill as is_bill,
    keyed.call_part = '' and fallbacks.call_key is not null as is_replaced,
    silent.call_key is not null as is_nothing
from keyed
inner join
    calls
    on calls.source = keyed.source
    and calls.call_key = keyed.call_key
    and calls.call_part = keyed.call_part
left join
    fallbacks on fallbacks.source = keyed.source and fallbacks.call_key = keyed.call_key
left join
    silent
    on silent.source = keyed.source
    and silent.call_key = keyed.call_key
    and silent.call_part = keyed.call_part
