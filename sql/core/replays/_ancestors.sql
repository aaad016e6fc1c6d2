/*
One row per thread with copied history and each thread above it.

grain   source, session_id, ancestor_id
why     A running total that an ancestor has too is the same request, wherever the
        copy was not recognized by its place. Copied headers name ancestors too: the
        parent itself may be gone.
*/
with recursive
    parents as (
        select distinct source, session_id, parent_session_id, has_copy
        from core._thread_heads
        where parent_session_id is not null and parent_session_id <> session_id
        union
        select source, session_id, parent_session_id, true as has_copy
        from staging.links
        where relation = 'copied' and parent_session_id <> session_id
    ),
    above as (
        select source, session_id, parent_session_id as ancestor_id
        from parents
        where has_copy
        union
        select below.source, below.session_id, parents.parent_session_id as ancestor_id
        from above as below
        inner join
            parents
            on parents.source = below.source
            and parents.session_id = below.ancestor_id
    )

select source, session_id, ancestor_id
from above
where session_id <> ancestor_id
