/*
One row per session with its title: what its user gave it, else the best there is.

grain   source, session_id
why     In order of priority: a title given by the user, the agent's index, one made by a
        model, a summary of one of its messages, one in a database made from the
        transcripts, its first human prompt, the first that it copied, the task of
        a subagent, the first of its jobs. Of several of one kind the last written
        counts, and an empty one takes the others back; where titles say when they were
        set, the latest counts, of whatever kind. A summary belongs to the session that
        holds the message it ends with, wherever it is written.
*/
with
    given as (
        select
            titles.source,
            coalesce(leaf.session_id, titles.session_id) as session_id,
            title_of(typed(titles.title)) as title,
            titles.title = '' as takes_back,
            case
                titles.title_source
                when 'custom'
                then 1
                when 'index'
                then 2
                when 'ai'
                then 3
                when 'database'
                then 5
                when 'job'
                then 9
                else 4
            end as priority,
            struct_pack(
                titled_at := coalesce(titles.titled_at, timestamptz '-infinity'),
                seq
                := place_of(titles.generation, titles.seq)
                * if(titles.title_source = 'job', -1, 1)
            ) as place
        from staging.sessions as titles
        left join
            staging.messages as leaf
            on leaf.source = titles.source
            and leaf.record_id = titles.leaf_record_id
        where
            titles.title is not null
            and titles.agent_id is null
            and (titles.leaf_record_id is null or leaf.record_id is not null)
    ),
    latest as (
        select
            source,
            session_id,
            priority,
            max(place) as place,
            max_by(coalesce(title, ''), (place, title)) as title
        from given
        where title is not null or takes_back
        group by all
    ),
    spawned as (
        select source, session_id
        from staging.sessions
        where relation = 'subagent' and agent_id is null
        union
        select source, session_id
        from core.messages
        group by all
        having count(*) filter (where agent_id is null) = 0
    ),
    spoken as (
        select
            messages.source,
            messages.session_id,
            messages.headline as title,
            case
                when messages.kind <> 'prompt' or messages.is_sidechain
                then 8
                when messages.is_copied
                then 7
                else 6
            end as priority,
            messages.sent_at,
            messages.seq
        from core.messages as messages
        left join
            spawned
            on spawned.source = messages.source
            and spawned.session_id = messages.session_id
        where
            (messages.kind = 'prompt' and not messages.is_sidechain)
            or (
                messages.role = 'user'
                and messages.kind in ('prompt', 'meta')
                and spawned.session_id is not null
            )
        union all by name
        select
            messages.source,
            coalesce(
                copies.request_session_id, copies.forked_from_session_id
            ) as session_id,
            messages.headline as title,
            8 as priority,
            messages.sent_at,
            messages.seq
        from staging.messages as copies
        inner join
            core.messages as messages
            on messages.source = copies.source
            and messages.session_id = copies.session_id
            and messages.message_id = copies.message_id
        where
            coalesce(copies.request_session_id, copies.forked_from_session_id)
            is not null
            and messages.kind = 'prompt'
    ),
    offered as (
        from latest
        where title <> ''
        union all by name
        select
            source,
            session_id,
            arg_min(title, (coalesce(sent_at, timestamptz 'infinity'), seq)) as title,
            priority
        from spoken
        where title is not null
        group by all
    )

select
    source,
    session_id,
    arg_max(
        title,
        (
            coalesce(place.titled_at, timestamptz '-infinity'),
            - priority,
            coalesce(place.seq, 0),
            title
        )
    ) as title
from offered
group by all
