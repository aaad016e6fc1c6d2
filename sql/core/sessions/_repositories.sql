/*
One row per repository with the folder that stands for it.

grain   repository
why     One repository lies in many folders: clones, worktrees, its own sub-folders. The
        one that stands for all is the shortest that is no agent's worktree.
*/
with
    places as (
        select distinct
            repository, started_in, worktree_of(started_in).name <> '' as is_worktree
        from core._sessions
        where repository is not null and started_in is not null
    )

select
    repository,
    arg_min(started_in, (is_worktree, length(started_in), started_in)) as project
from places
group by all
