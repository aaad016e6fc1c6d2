/*
One row per record that shows the usage of a request, with the key of its call.

grain   source, stream_id, generation, seq, part
why     A request is known by the key that its adapter made, else by its message, its
        own id, or its record in the session in which it was made (a copy may name
        it). One id with two requests whose prompts differ is an id that a gateway used
        twice: two calls. So are its replies that core._reused_ids tells apart.
*/
with
    completed as (
        select
            usage.* replace (
                coalesce(usage.usage_key, whole.usage_key) as usage_key,
                coalesce(usage.provider, whole.provider) as provider,
                coalesce(usage.model, whole.model) as model,
                coalesce(usage.called_at, whole.called_at) as called_at
            )
        from staging.usage as usage
        left join
            core._step_messages as whole
            on whole.source = usage.source
            and whole.session_id = usage.session_id
            and whole.message_id = usage.message_id
        where usage.kind = 'call'
    ),
    named as (
        select
            *,
            coalesce(
                request_session_id, forked_from_session_id, session_id
            ) as named_id,
            coalesce(request_session_id, forked_from_session_id)
            is not null as is_inferred,
            coalesce(
                nullif(usage_key, ''),
                nullif(message_id, ''),
                nullif(request_id, ''),
                coalesce(request_session_id, forked_from_session_id, session_id)
                || ':'
                || coalesce(record_id, stream_id || '.' || seq)
            ) as request_key
        from completed
    ),
    requests as (
        select
            source,
            request_key,
            request_id,
            arg_max(
                (
                    coalesce(input_tokens, 0),
                    coalesce(cache_read_tokens, 0),
                    coalesce(cache_write_tokens, 0)
                ),
                coalesce(output_tokens, -1)
            ) as prompt
        from named
        where request_id <> '' and call_part = '' and usage_key is null
        group by all
    ),
    reused as (
        select source, request_key, min(request_id) as first_request_id
        from requests
        where prompt <> (0, 0, 0)
        group by all
        having min(prompt) < max(prompt)
    )

select
    named.source,
    named.stream_id,
    named.generation,
    named.seq,
    named.part,
    named.session_id,
    named.agent_id,
    named.named_id,
    named.is_inferred,
    case
        when apart.began_us is not null
        then id_of_reply(named.request_key, apart.began_us)
        when reused.request_key is not null
        then
            named.request_key
            || '@'
            || coalesce(nullif(named.request_id, ''), reused.first_request_id)
        else named.request_key
    end as call_key,
    named.call_part,
    if(
        apart.reply_key = named.message_id,
        id_of_reply(named.message_id, apart.began_us),
        named.message_id
    ) as message_id,
    named.provider,
    named.model,
    named.called_at,
    named.input_tokens,
    named.cache_read_tokens,
    named.cache_write_tokens,
    named.cache_write_1h_tokens,
    named.output_tokens,
    named.reasoning_tokens,
    named.web_search_requests,
    named.service_tier,
    named.region,
    named.reported_cost_usd,
    named.is_final,
    named.granularity,
    named.unit,
    named.amount,
    named.is_estimated,
    named.has_hourly_windows,
    named.scope,
    coalesce(coalesce(named.precedence, 0) < scopes.precedence, false) as is_superseded
from named
left join
    reused on reused.source = named.source and reused.request_key = named.request_key
left join
    core._reused_ids as apart
    on apart.source = named.source
    and apart.stream_id = named.stream_id
    and apart.generation = named.generation
    and apart.seq = named.seq
    and apart.reply_key = named.request_key
left join
    core._scopes as scopes
    on scopes.source = named.source
    and scopes.scope = named.scope
