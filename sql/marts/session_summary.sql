/*
One row per session, the last active first; its subagents' work is counted in it.

grain   source, session_id
why     Everything about a session in one place. Copied messages and calls belong to
        the session in which they were made and are counted only there. For a
        connection that asks about some days (`is_asked_for`), what was done on them
        is counted, of sessions that were started or made a call on them. When it was
        last active is told by its records, never by its files: a copy is no activity.
*/
with
    spoken as (
        select source, session_id, count(*) as messages
        from core.messages
        where not is_copied and is_asked_for(sent_at)
        group by all
    ),
    asked as (
        select source, session_id, count(*) as tool_calls
        from core._tool_calls
        where status <> 'no_call' and is_asked_for(called_at)
        group by all
    ),
    used as (
        select
            source,
            session_id,
            cast(coalesce(sum(calls), 0) as bigint) as calls,
            cast(sum(input_tokens) as bigint) as input_tokens,
            cast(sum(cache_read_tokens) as bigint) as cache_read_tokens,
            cast(sum(cache_write_tokens) as bigint) as cache_write_tokens,
            cast(sum(output_tokens) as bigint) as output_tokens,
            cast(sum(reasoning_tokens) as bigint) as reasoning_tokens,
            cast(sum(web_search_requests) as bigint) as web_search_requests,
            cast(sum(cost_usd) as decimal(18, 6)) as cost_usd,
            count(*) filter (
                where cost_usd is null and unit = 'tokens'
            ) as unpriced_calls,
            cast(sum(cost_low_usd) as decimal(18, 6)) as cost_low_usd,
            cast(sum(cost_high_usd) as decimal(18, 6)) as cost_high_usd,
            assumed_usd(usage) as assumed_cost_usd,
            reported_only_usd(usage) as reported_only_usd,
            unknown_cost_calls(usage) as unknown_cost_calls,
            list_sort(list(distinct model) filter (where model is not null)) as models
        from core.usage
        where
            unit in ('tokens', 'usd')
            and is_asked_for(called_at)
            and is_chosen(source, session_id)
            and is_chosen_model(model)
        group by all
    ),
    stored as (
        select
            files.source,
            files.session_id,
            arg_min(streams.path, (files.agent_id is not null, streams.path)) as path,
            cast(sum(streams.size) as bigint) as file_bytes
        from
            (
                select source, session_id, stream_id, max(agent_id) as agent_id
                from staging.messages
                group by all
            ) as files
        inner join meta.streams as streams on streams.stream_id = files.stream_id
        group by all
    ),
    active as (
        select source, session_id, max(active_at) as updated_at
        from
            (
                select source, main_session_id as session_id, ended_at as active_at
                from core.sessions
                union all
                select source, session_id, max(called_at) as active_at
                from core.usage
                group by all
            ) as moments
        group by all
    )

select
    sessions.source,
    sessions.session_id,
    sessions.title,
    sessions.project,
    sessions.category,
    sessions.started_at,
    sessions.ended_at,
    active.updated_at,
    coalesce(spoken.messages, 0) as messages,
    coalesce(asked.tool_calls, 0) as tool_calls,
    coalesce(used.calls, 0) as calls,
    used.input_tokens,
    used.cache_read_tokens,
    used.cache_write_tokens,
    used.output_tokens,
    used.reasoning_tokens,
    used.web_search_requests,
    used.cost_usd,
    coalesce(used.unpriced_calls, 0) as unpriced_calls,
    used.cost_low_usd,
    used.cost_high_usd,
    used.assumed_cost_usd,
    used.reported_only_usd,
    coalesce(used.unknown_cost_calls, 0) as unknown_cost_calls,
    coalesce(used.models, []) as models,
    stored.path,
    stored.file_bytes
from core.sessions as sessions
left join
    spoken
    on spoken.source = sessions.source
    and spoken.session_id = sessions.session_id
left join
    asked on asked.source = sessions.source and asked.session_id = sessions.session_id
left join
    used on used.source = sessions.source and used.session_id = sessions.session_id
left join
    active
    on active.source = sessions.source
    and active.session_id = sessions.session_id
left join
    stored
    on stored.source = sessions.source
    and stored.session_id = sessions.session_id
where
    sessions.agent_id is null
    and (
        used.source is not null
        or (is_asked_for(sessions.started_at) and getvariable('models') is null)
    )
    and is_chosen(sessions.source, sessions.session_id)
order by active.updated_at desc nulls last, sessions.source asc, sessions.session_id asc
