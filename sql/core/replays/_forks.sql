/*
One row per session that says that it is a fork of one that is here, with the time at
which it began.

grain   source, session_id
why     What stands in it from before then was copied, whether or not the copies name
        what they were copied from. A fork that does not say of which session it is
        one of another that made the same call. Of a session that is gone, the fork
        has the only copy there is.
*/
with
    forks as (
        select source, session_id, min(started_at) as started_at
        from staging.sessions
        where relation = 'fork' and agent_id is null
        group by all
    ),
    named as (
        select source, session_id, parent_session_id
        from staging.sessions
        where relation = 'fork' and agent_id is null
        union
        select source, session_id, parent_session_id
        from staging.links
        where relation = 'fork' and agent_id is null
    ),
    here as (select distinct source, session_id from staging.messages),
    keyed as (
        select distinct source, usage_key, session_id
        from staging.usage
        where usage_key is not null and kind = 'call'
    ),
    origins as (
        select named.source, named.session_id
        from named
        inner join
            here
            on here.source = named.source
            and here.session_id = named.parent_session_id
        union
        select forks.source, forks.session_id
        from forks
        inner join
            keyed as own
            on own.source = forks.source
            and own.session_id = forks.session_id
        inner join
            keyed as theirs
            on theirs.source = own.source
            and theirs.usage_key = own.usage_key
            and theirs.session_id <> own.session_id
    )

select forks.source, forks.session_id, forks.started_at
from forks
semi join
    origins on origins.source = forks.source and origins.session_id = forks.session_id
where forks.started_at is not null
