/*
One row per session with the times of its first and last row, copied rows included.

grain   source, session_id
why     When copies of a message lie in several sessions and no record says where
        it was made, it belongs to the session whose first row is oldest. Copies keep
        their time, so they count here on purpose: that is the agent's own order. A
        fork that begins with its origin's first row is as old as that, so each fork
        on the way makes it a microsecond younger. A session with a header began no
        earlier than that: what is older was copied. Where no message has a time, the
        header's is all there is. Of two that began at once, the one that ended first is
        the origin: the other began with a copy of it and went on.
*/
with recursive
    origins as (
        select source, session_id, parent_session_id
        from staging.sessions
        where relation in ('fork', 'continuation')
        union
        select source, session_id, parent_session_id
        from staging.links
        where relation in ('fork', 'continuation')
    ),
    forks as (
        select source, session_id, parent_session_id, 1 as depth
        from origins
        union
        select
            forks.source,
            forks.session_id,
            origins.parent_session_id,
            forks.depth + 1 as depth
        from forks
        inner join
            origins
            on origins.source = forks.source
            and origins.session_id = forks.parent_session_id
        where forks.depth < 100
    ),
    depths as (select source, session_id, max(depth) as depth from forks group by all),
    headers as (
        select source, session_id, min(started_at) as started_at
        from staging.sessions
        where started_at is not null
        group by all
    ),
    firsts as (
        select source, session_id, min(sent_at) as first_at, max(sent_at) as last_at
        from staging.messages
        group by all
    )

select
    firsts.source,
    firsts.session_id,
    coalesce(
        greatest(firsts.first_at, headers.started_at)
        + to_microseconds(coalesce(depths.depth, 0)),
        timestamptz 'infinity'
    ) as first_at,
    coalesce(firsts.last_at, timestamptz 'infinity') as last_at
from firsts
left join
    depths on depths.source = firsts.source and depths.session_id = firsts.session_id
left join
    headers on headers.source = firsts.source and headers.session_id = firsts.session_id
