/*
One row per scope (what usage is evidence of), with the highest precedence that reports
it.

grain   source, scope
only    staging.usage where scope is not null
why     Some agents report one usage in several places: a ledger and its messages, a
        store and a summary at the end, an old format and its successor. Which places
        a session has is known only when all of it is loaded.
*/
select source, scope, max(coalesce(precedence, 0)) as precedence
from staging.usage
where scope is not null and kind <> 'scope_total'
group by all
