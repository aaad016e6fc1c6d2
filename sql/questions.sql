/*
spend_by_day(since, until): One row per day with its calls, tokens and cost, newest first.

use     from spend_by_day()
        from spend_by_day(since := '2026-11-01', until := current_date - 1)
null    cost_usd adds up what has a price; unpriced_calls counts what has none, of which
        cost_low_usd and cost_high_usd bound some and the agent itself reported some
        (reported_only_usd).
*/
create or replace macro main.spend_by_day(since := null, until := null) as table
select
    usage_date,
    cast(sum(calls) as bigint) as calls,
    cast(sum(input_tokens) as bigint) as input_tokens,
    cast(sum(cache_read_tokens) as bigint) as cache_read_tokens,
    cast(sum(cache_write_tokens) as bigint) as cache_write_tokens,
    cast(sum(output_tokens) as bigint) as output_tokens,
    cast(sum(cost_usd) as decimal(18, 6)) as cost_usd,
    cast(sum(unpriced_calls) as bigint) as unpriced_calls,
    cast(sum(cost_low_usd) as decimal(18, 6)) as cost_low_usd,
    cast(sum(cost_high_usd) as decimal(18, 6)) as cost_high_usd,
    cast(sum(reported_only_usd) as decimal(18, 6)) as reported_only_usd
from marts.daily_usage
where
    (since is null or usage_date >= cast(since as date))
    and (until is null or usage_date <= cast(until as date))
group by usage_date
order by usage_date desc
;
/*
cache_hit_rate(since, until): One row per source and model: how much of its prompts came
from a cache.

use     from cache_hit_rate(since := current_date - 7)
*/
create or replace macro main.cache_hit_rate(since := null, until := null) as table
select
    source,
    model,
    cast(sum(calls) as bigint) as calls,
    cast(
        sum(coalesce(input_tokens, 0))
        + sum(coalesce(cache_read_tokens, 0))
        + sum(coalesce(cache_write_tokens, 0)) as bigint
    ) as prompt_tokens,
    cast(sum(coalesce(cache_read_tokens, 0)) as bigint) as cache_read_tokens,
    round(
        100.0 * sum(cache_read_tokens) / nullif(prompt_tokens, 0), 1
    ) as hit_percent
from marts.daily_usage
where
    (since is null or usage_date >= cast(since as date))
    and (until is null or usage_date <= cast(until as date))
group by source, model
order by prompt_tokens desc
;
/*
project_sessions(folder): One row per session of a project, with nothing but its ids: to join
with, or to be what the marts of a connection count.

use     from core.usage semi join project_sessions('/home/ada/shop') using (source, session_id)
        set variable session_keys = (
            select list(session_key(source, session_id)) from project_sessions('shop')
        )
*/
create or replace macro main.project_sessions(folder) as table
select source, session_id
from core.sessions
where is_of_project(project, cwd, folder)
;
/*
sessions_of(folder): One row per session of a project, in its folder or below, the last
active first.

use     from sessions_of('shop')                    the last part of its path is enough
        from sessions_of('/home/ada/shop')
*/
create or replace macro main.sessions_of(folder) as table
select
    source,
    session_id,
    title,
    project,
    started_at,
    updated_at,
    ended_at,
    calls,
    tool_calls,
    output_tokens,
    cost_usd,
    unpriced_calls,
    models
from marts.session_summary
where (source, session_id) in (from project_sessions(folder))
order by updated_at desc nulls last
;
/*
tool_failures(since): One row per source and tool that failed at least once.

use     from tool_failures(since := current_date - 7)
*/
create or replace macro main.tool_failures(since := null) as table
select
    source,
    name,
    count(*) as calls,
    count(*) filter (where status = 'failed') as failed,
    round(100.0 * failed / calls, 1) as failed_percent,
    max(called_at) filter (where status = 'failed') as last_failed_at
from core._tool_calls
where
    status <> 'no_call'
    and (since is null or local_date(called_at) >= cast(since as date))
group by source, name
having failed > 0
order by failed desc, source asc, name asc
;
/*
prompts_with(word): One row per prompt that contains a text, in whatever case, newest
first; copies of history are left out.

use     from prompts_with('migration')
*/
create or replace macro main.prompts_with(word) as table
select
    messages.sent_at,
    messages.source,
    messages.session_id,
    sessions.project,
    messages.message_id,
    messages.text
from
    (
        select *
        from core.messages
        where
            kind = 'prompt'
            and not is_copied
            and contains(lower(text), lower(word))
    ) as messages
left join
    core.sessions as sessions
    on sessions.source = messages.source
    and sessions.session_id = messages.session_id
order by messages.sent_at desc nulls last
;
/*
lines_of(call_id): One row per record of one billed call: the file and the line that count,
and those that were dropped, each with the rule.

use     from lines_of('msg_01')                     the usage_id of core.usage
*/
create or replace macro main.lines_of(call_id) as table
select
    records.source,
    records.usage_id,
    streams.path,
    records.seq + 1 as line_number,
    coalesce(records.dropped_by, 'counted') as rule,
    records.output_tokens
from (select * from core._usage_records where usage_id = call_id) as records
left join meta.streams as streams on streams.stream_id = records.stream_id
order by records.dropped_by is not null, streams.path, records.seq
;
