/*
Every call of a tool belongs to a message of its session.

asset     core.tool_calls
severity  warn
why       The model asks for a tool in a message; a call without one was torn off.
*/
select calls.source, calls.session_id, calls.message_id, calls.tool_call_id, calls.name
from core.tool_calls as calls
anti join
    core.messages as messages
    on messages.source = calls.source
    and messages.session_id = calls.session_id
    and messages.message_id = calls.message_id
