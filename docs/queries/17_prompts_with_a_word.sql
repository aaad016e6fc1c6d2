/*
Every prompt that mentions a word

Copies of a prompt in resumed and forked sessions are left out.
*/
select sent_at, source, left(text, 60) as prompt
from core.messages
where kind = 'prompt' and not is_copied and text ilike '%frost%'
order by sent_at
