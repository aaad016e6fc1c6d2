/*
Every record of usage in staging is a call in core.usage or a named copy of one.

asset     core.usage_copies
why       A record that is neither is lost usage; one that is both is counted twice.
*/
with
    records as (
        select source, stream_id, generation, seq, 1 as found, 0 as explained
        from staging.usage
        union all
        select source, stream_id, generation, seq, 0 as found, 1 as explained
        from core.usage
        union all
        select source, stream_id, generation, seq, 0 as found, 1 as explained
        from core.usage_copies
    )

select
    source,
    stream_id,
    generation,
    seq,
    sum(found) as in_staging,
    sum(explained) as in_core
from records
group by all
having sum(found) <> sum(explained)
