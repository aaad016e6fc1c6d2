/*
One row per session and one per subagent of a session, before its project.

grain   source, session_id
key     source, main_session_id
checks  not_null(relation)
why     A subagent that has no session of its own is named `<session>/<agent>`;
        (main_session_id, agent_id) finds it from usage and messages. A session
        exists when it has a message, or others tell of it and what it used is counted
        (core._remnants); files that hold only settings or summaries make none. Times are those of its own messages, not of copied ones. A session
        in which somebody spoke is not the system's, whatever the system said first;
        who knows the channel knows best what a session is for.
*/
with
    spoken as (
        select
            source,
            session_id,
            agent_id,
            count(*) filter (where kind = 'command') as commands,
            count(*) filter (where kind in ('prompt', 'response')) as turns,
            arg_min(coalesce(label, ''), seq) filter (
                where role = 'user' and kind in ('prompt', 'command', 'meta')
            ) as first_label
        from core.messages
        group by all
        union all by name
        select source, session_id, null as agent_id, 0 as commands, 0 as turns
        from core._remnants
    ),
    seen as (
        select
            source,
            session_id,
            agent_id,
            arg_min(cwd, place_of(generation, seq)) as first_cwd,
            arg_max(cwd, place_of(generation, seq)) as cwd,
            arg_max(git_branch, place_of(generation, seq)) as git_branch,
            arg_max(client_version, place_of(generation, seq)) as client_version,
            arg_max(entrypoint, place_of(generation, seq)) as entrypoint,
            arg_max(team, place_of(generation, seq)) as team,
            arg_max(agent_type, place_of(generation, seq)) as agent_type
        from staging.messages
        group by all
        union all by name
        select * exclude (started_at, ended_at), null as agent_id
        from core._remnants
    ),
    told as (
        -- what a database says beside the transcripts only fills in; the stream
        -- decides last: a copied folder says the same at the same place
        select
            *,
            row(
                coalesce(title_source = 'database', false),
                place_of(generation, seq),
                stream_id
            ) as place
        from staging.sessions
    ),
    said as (
        select
            source,
            session_id,
            agent_id,
            arg_min(cwd, place) as cwd,
            arg_min(git_branch, place) as git_branch,
            arg_min(repo_url, place) as repo_url,
            arg_min(client_version, place) as client_version,
            arg_min(entrypoint, place) as entrypoint,
            arg_min(team, place) as team,
            arg_min(agent_type, place) as agent_type,
            arg_min(
                category,
                (category = 'system', coalesce(channel, 'direct') = 'direct', place)
            ) as category,
            arg_min(job, place) as job,
            arg_min(channel, (channel = 'direct', place)) as channel,
            arg_min(relation, place) as relation,
            arg_min(parent_session_id, place) as parent_session_id
        from told
        group by all
    )

select
    -- keys
    spoken.source,
    if(
        spoken.agent_id is null,
        spoken.session_id,
        spoken.session_id || '/' || spoken.agent_id
    ) as session_id,
    spoken.session_id as main_session_id,
    lineage.parent_session_id,
    lineage.root_session_id,
    lineage.relation,
    spoken.agent_id,
    -- facts
    coalesce(said.agent_type, seen.agent_type, spawned.agent_type) as agent_type,
    coalesce(seen.team, said.team) as team,
    titles.title,
    coalesce(seen.cwd, said.cwd) as cwd,
    project_of(coalesce(seen.first_cwd, said.cwd)) as started_in,
    repository_of(said.repo_url) as repository,
    coalesce(seen.git_branch, said.git_branch) as git_branch,
    coalesce(seen.client_version, said.client_version) as client_version,
    coalesce(seen.entrypoint, said.entrypoint) as entrypoint,
    coalesce(
        said.category,
        case
            when spoken.first_label in ('cron', 'system')
            then spoken.first_label
            when spoken.turns = 0 and spoken.commands > 0
            then 'probe'
            when starts_with(coalesce(seen.entrypoint, said.entrypoint), 'sdk')
            then 'automated'
            when coalesce(seen.entrypoint, said.entrypoint) is not null
            then 'interactive'
        end
    ) as category,
    said.job,
    said.channel,
    coalesce(spans.started_at, remnants.started_at) as started_at,
    coalesce(spans.ended_at, remnants.ended_at) as ended_at,
    remnants.source is not null as is_partial
from spoken
inner join
    core._lineage as lineage
    on lineage.source = spoken.source
    and lineage.session_id = spoken.session_id
    and lineage.agent_id is not distinct from spoken.agent_id
left join
    core._spans as spans
    on spans.source = spoken.source
    and spans.session_id = spoken.session_id
    and spans.agent_id is not distinct from spoken.agent_id
left join
    core._remnants as remnants
    on remnants.source = spoken.source
    and remnants.session_id = spoken.session_id
    and spoken.agent_id is null
left join
    seen
    on seen.source = spoken.source
    and seen.session_id = spoken.session_id
    and seen.agent_id is not distinct from spoken.agent_id
left join
    said
    on said.source = spoken.source
    and said.session_id = spoken.session_id
    and said.agent_id is not distinct from spoken.agent_id
left join
    core._spawned_agents as spawned
    on spawned.source = spoken.source
    and spawned.session_id = spoken.session_id
    and spawned.agent_id = spoken.agent_id
left join
    core._titles as titles
    on titles.source = spoken.source
    and titles.session_id = spoken.session_id
    and spoken.agent_id is null
