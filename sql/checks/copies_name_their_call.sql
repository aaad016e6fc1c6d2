/*
What repeats a call names a call that exists.

asset     core.usage_copies
why       The copy was dropped because of that call: without it, it is lost usage.
*/
select
    copies.source,
    copies.usage_id,
    copies.rule,
    copies.stream_id,
    copies.generation,
    copies.seq
from core.usage_copies as copies
anti join
    core.usage as calls
    on calls.source = copies.source
    and calls.usage_id = copies.usage_id
where copies.rule in ('same_message', 'same_call')
