/*
The session that a subagent worked for is in core.sessions.

asset     core.sessions
severity  warn
why       Its transcript was deleted before it was loaded, or the two were not linked.
*/
select agents.source, agents.session_id, agents.agent_id, agents.main_session_id
from core.sessions as agents
anti join
    core.sessions as parents
    on parents.source = agents.source
    and parents.session_id = agents.main_session_id
    and parents.agent_id is null
where agents.agent_id is not null
