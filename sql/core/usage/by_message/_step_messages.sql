/*
One row per message whose usage is told in records of their own, one per step.

grain   source, session_id, message_id
only    staging.usage where starts_with(call_part, 'step:')
why     Such a record says what a step cost, but not who made it, when, or of which
        call it is a part; the message's own record does.
*/
with
    stepped as (
        select distinct source, session_id, message_id
        from staging.usage
        where starts_with(call_part, 'step:') and usage_key is null
    ),
    said as (
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
    any_value(said.usage_key) as usage_key,
    any_value(said.provider) as provider,
    coalesce(any_value(said.model), min(messages.model)) as model,
    coalesce(any_value(said.called_at), min(messages.sent_at)) as called_at
from stepped
inner join
    staging.messages as messages
    on messages.source = stepped.source
    and messages.session_id = stepped.session_id
    and messages.message_id = stepped.message_id
left join
    said
    on said.source = messages.source
    and said.session_id = messages.session_id
    and said.message_id = messages.message_id
group by all
