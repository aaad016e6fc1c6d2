/*
One row per session that says that it is a fork, with the time at which it began.

grain   source, session_id
why     What stands in it from before then was copied, whether or not the copies name
        what they were copied from.
*/
select source, session_id, min(started_at) as started_at
from staging.sessions
where relation = 'fork' and agent_id is null and started_at is not null
group by all
