/*
One row per session and one per subagent of a session.

grain   source, session_id
checks  not_null(relation)
why     Which project a folder belongs to can be told by a session of another agent, at
        any time: so that is looked up, and not stored.
*/
select
    -- keys
    sessions.source,
    sessions.session_id,
    sessions.main_session_id,
    sessions.parent_session_id,
    sessions.root_session_id,
    sessions.relation,
    sessions.agent_id,
    -- facts
    sessions.agent_type,
    sessions.team,
    sessions.title,
    sessions.cwd,
    coalesce(repositories.project, projects.project, sessions.started_in) as project,
    sessions.repository,
    sessions.git_branch,
    sessions.client_version,
    sessions.entrypoint,
    sessions.category,
    sessions.job,
    sessions.channel,
    sessions.started_at,
    sessions.ended_at,
    sessions.is_partial
from core._sessions as sessions
left join core._projects as projects on projects.started_in = sessions.started_in
left join
    core._repositories as repositories on repositories.repository = sessions.repository
