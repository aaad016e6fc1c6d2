/*
One row per call that does not name its model, with the model that was set then.

grain   source, session_id, called_at
only    staging.turns where model is not null
why     Some formats keep the model in files beside the calls, each change with its
        time. A change is written before the call or right after it began: it holds
        for a call if it comes before the next one; else the first change after that.
*/
with
    settings as (
        select source, session_id, began_at, max(model) as model
        from staging.turns
        where model is not null and began_at is not null
        group by all
    ),
    moments as (
        select
            usage.source,
            usage.session_id,
            usage.called_at,
            bool_or(usage.model is null) as is_needed
        from staging.usage as usage
        semi join settings using (source, session_id)
        where usage.kind = 'call' and usage.called_at is not null
        group by all
    ),
    windows as (
        select
            *,
            coalesce(
                lead(called_at) over (
                    partition by source, session_id order by called_at
                ),
                timestamptz 'infinity'
            ) as next_at
        from moments
    )

select
    windows.source,
    windows.session_id,
    windows.called_at,
    coalesce(earlier.model, later.model) as model
from windows
asof left join
    settings as earlier
    on earlier.source = windows.source
    and earlier.session_id = windows.session_id
    and earlier.began_at < windows.next_at
asof left join
    settings as later
    on later.source = windows.source
    and later.session_id = windows.session_id
    and later.began_at >= windows.next_at
where windows.is_needed
