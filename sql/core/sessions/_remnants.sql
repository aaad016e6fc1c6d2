/*
One row per session of which only others tell: its transcript is gone, or there never was
one, and yet something of it is counted.

grain   source, session_id
why     Its agents' transcripts, and the copies that name it as their origin, still tell
        where and when it was; what it used is in the reports.
*/
with
    counted as (
        select source, session_id
        from core.messages
        where agent_id is not null
        union
        select source, session_id
        from core.usage
    ),
    mains as (
        select distinct source, session_id from core.messages where agent_id is null
    ),
    gone as (
        select counted.source, counted.session_id
        from counted
        anti join
            mains
            on mains.source = counted.source
            and mains.session_id = counted.session_id
    ),
    records as (
        select
            source,
            session_id,
            sent_at,
            cwd,
            git_branch,
            client_version,
            entrypoint,
            team,
            stream_id,
            generation,
            seq
        from staging.messages
        where agent_id is not null
        union all by name
        select
            source,
            coalesce(request_session_id, forked_from_session_id) as session_id,
            sent_at,
            cwd,
            git_branch,
            client_version,
            entrypoint,
            team,
            stream_id,
            generation,
            seq
        from staging.messages
        where request_session_id is not null or forked_from_session_id is not null
        union all by name
        select source, session_id, called_at as sent_at
        from core.usage
    ),
    told as (
        select records.*
        from records
        semi join
            gone
            on gone.source = records.source
            and gone.session_id = records.session_id
    ),
    placed as (
        select
            *,
            row(
                coalesce(sent_at, timestamptz 'infinity'),
                place_of(generation, seq),
                stream_id
            ) as place
        from told
    )

select
    source,
    session_id,
    arg_min(cwd, place) as first_cwd,
    arg_max(cwd, place) as cwd,
    arg_max(git_branch, place) as git_branch,
    arg_max(client_version, place) as client_version,
    arg_max(entrypoint, place) as entrypoint,
    arg_max(team, place) as team,
    min(sent_at) as started_at,
    max(sent_at) as ended_at
from placed
group by all
