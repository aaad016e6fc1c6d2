/*
One row per session with its title: what its user gave it, else the best there is.

grain   source, session_id
why     In order of priority: a title given by the user, the agent's index, one made by a
        model, a summary of one of its messages, one in a database made from the
        transcripts, its first human prompt. Of several of one kind the last written
        counts, and an empty one takes the others back; a summary belongs to the
        session that holds the message it ends with, wherever it is written.
*/
with
    given as (
        select
            titles.source,
            coalesce(leaf.session_id, titles.session_id) as session_id,
            titles.title,
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
                else 4
            end as priority,
            place_of(titles.generation, titles.seq) as place
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
            max_by(title, (place, title)) as title
        from given
        group by all
    ),
    prompts as (
        select
            source,
            session_id,
            arg_min(text, (coalesce(sent_at, timestamptz 'infinity'), seq)) as text
        from core.messages
        where kind = 'prompt' and not is_copied and not is_sidechain
        group by all
    ),
    offered as (
        from latest
        where title <> ''
        union all by name
        select
            source,
            session_id,
            trim(
                regexp_extract(
                    trim(text, chr(10) || chr(13) || chr(9) || ' '), '^[^\r\n]*'
                )
            ) as title,
            6 as priority,
            0 as place
        from prompts
    )

select source, session_id, arg_max(title, (- priority, place, title)) as title
from offered
group by all
