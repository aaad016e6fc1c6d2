/*
What was not counted, and why

Each record of usage that is no call of its own, by the rule that dropped it: what a plain sum over the files would have counted too.
*/
select source, rule, count(*) as records, sum(output_tokens) as output_tokens
from core.usage_copies
group by all
order by records desc
