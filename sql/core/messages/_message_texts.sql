/*
One row per message that says or shows something, with its texts as one.

grain   source, session_id, message_id
why     A text comes in blocks; pictures have none, but a message of nothing else was
        meant all the same.
*/
select
    source,
    session_id,
    message_id,
    string_agg(text, chr(10) || chr(10) order by block_index) filter (
        where type in ('text', 'attachment')
    ) as text,
    bool_or(type in ('image', 'document')) as has_picture
from core.blocks
where type in ('text', 'attachment', 'image', 'document')
group by all
