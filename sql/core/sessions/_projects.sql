/*
One row per folder in which sessions were started, with the project to which it belongs.

grain   started_in
why     A folder is a project of its own, unless a session in it told its repository: then
        that decides for all of them, whatever their agent. Of an agent's worktree
        whose repository nobody told, the name is known: it is that of a folder in the
        same home, if there is but one.
*/
with
    places as (
        select
            started_in,
            arg_max(repository, (started_at, session_id)) as repository,
            worktree_of(started_in) as worktree
        from core._sessions
        where started_in is not null
        group by all
    ),
    known as (
        select
            places.started_in,
            places.worktree,
            coalesce(repositories.project, places.started_in) as project,
            repositories.repository is not null or places.worktree.name = '' as is_known
        from places
        left join
            core._repositories as repositories
            on repositories.repository = places.repository
    ),
    namesakes as (
        select
            worktrees.started_in,
            arg_min(
                known.project,
                (
                    known.started_in
                    <> worktrees.worktree.home || '/' || worktrees.worktree.name,
                    known.project
                )
            ) as project,
            count(distinct known.project) as projects,
            bool_or(
                known.started_in
                = worktrees.worktree.home || '/' || worktrees.worktree.name
            ) as is_beside
        from known as worktrees
        inner join
            known
            on known.is_known
            and ends_with(known.started_in, '/' || worktrees.worktree.name)
            and starts_with(known.started_in, worktrees.worktree.home || '/')
        where not worktrees.is_known
        group by all
    )

select
    known.started_in,
    if(
        namesakes.is_beside or namesakes.projects = 1, namesakes.project, known.project
    ) as project
from known
left join namesakes on namesakes.started_in = known.started_in
