/*
When contexts were compacted, and by how much
*/
select compacted_at, source, trigger, tokens_before, tokens_after
from core.compactions
order by compacted_at desc
