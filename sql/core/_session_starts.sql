/*
One row per session with the time of its first row, copied rows included.

grain   source, session_id
why     When copies of a message lie in several sessions and no record says where
        it was made, it belongs to the session whose first row is oldest. Copies keep
        their time, so they count here on purpose: that is the agent's own order. A
        session with a header began no earlier than that: what is older was copied.
*/
with
    headers as (
        select source, session_id, min(started_at) as started_at
        from staging.sessions
        where started_at is not null
        group by all
    )

select
    messages.source,
    messages.session_id,
    greatest(
        coalesce(min(messages.sent_at), timestamptz 'infinity'),
        any_value(headers.started_at)
    ) as first_at
from staging.messages as messages
left join
    headers
    on headers.source = messages.source
    and headers.session_id = messages.session_id
group by all
