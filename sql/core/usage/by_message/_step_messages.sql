/*
One row per message whose usage has records of its own, one per step.

grain   source, session_id, message_id
only    staging.usage where starts_with(call_part, 'step:')
why     The record of a step has its cost, but neither its model, its time nor its
        call; the message's own record has them.
*/
with
    stepped as (
        select distinct source, session_id, message_id
        from staging.usage
        where starts_with(call_part, 'step:') and usage_key is null
    ),
    whole as (
        select
            usage.source,
            usage.session_id,
            usage.message_id,
            min(usage.usage_key) as usage_key,
            min(usage.provider) as provider,
            min(usage.model) as model,
            min(usage.called_at) as called_at
        from stepped
        inner join
            staging.usage as usage
            on usage.source = stepped.source
            and usage.session_id = stepped.session_id
            and usage.message_id = stepped.message_id
        where usage.call_part = ''
        group by all
    )

select
    messages.source,
    messages.session_id,
    messages.message_id,
    any_value(whole.usage_key) as usage_key,
    any_value(whole.provider) as provider,
    coalesce(any_value(whole.model), min(messages.model)) as model,
    coalesce(any_value(whole.called_at), min(messages.sent_at)) as called_at
from stepped
inner join
    staging.messages as messages
    on messages.source = stepped.source
    and messages.session_id = stepped.session_id
    and messages.message_id = stepped.message_id
left join
    whole
    on whole.source = messages.source
    and whole.session_id = messages.session_id
    and whole.message_id = messages.message_id
group by all
