/*
One row per session with the time of its first row, copied rows included.

grain   source, session_id
why     When copies of a message lie in several sessions and no record says where
        it was made, it belongs to the session whose first row is oldest. Copies keep
        their time, so they count here on purpose: that is the agent's own order.
*/
select source, session_id, coalesce(min(sent_at), timestamptz 'infinity') as first_at
from staging.messages
group by all
