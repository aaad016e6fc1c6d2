/*
No tool answered before it was called.

asset     core.tool_calls
severity  warn
why       Either the clock was set back, or a result was joined to a wrong call.
*/
select source, session_id, tool_call_id, name, called_at, finished_at
from core._tool_calls
where finished_at < called_at
