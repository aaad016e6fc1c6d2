/*
One row per day, source, model and unit with what was counted in that unit.

grain   usage_date, source, model, unit
why     Credits, requests and tokens that nobody split into input and output are no
        part of any sum of tokens or dollars; here they are shown by themselves.
*/
with
    parts as (
        select source, model, unit, called_at, amount, is_estimated
        from core.usage
        where
            unit <> 'tokens'
            and not is_total
            and is_chosen(source, session_id)
            and is_chosen_model(model)
        union all by name
        select
            steps.source,
            steps.model,
            steps.unit,
            steps.called_at,
            steps.amount,
            usage.is_estimated
        from core.usage_steps as steps
        inner join
            core.usage as usage
            on usage.source = steps.source
            and usage.usage_id = steps.usage_id
        where
            steps.unit <> 'tokens'
            and is_chosen(steps.source, steps.session_id)
            and is_chosen_model(steps.model)
    )

select
    local_date(called_at) as usage_date,
    source,
    model,
    unit,
    sum(amount) as amount,
    bool_or(is_estimated) as is_estimated
from parts
where is_asked_for(called_at)
group by all
order by usage_date desc, source asc, model asc, unit asc
