/*
One row per message that a better store tells as well.

grain   source, session_id, message_id
only    staging.messages where precedence is not null
why     Some agents keep one conversation in several stores, under ids that do not
        meet: all messages of a session in the best store count, and no others. Where
        none is better by nature, the one with the most messages is.
*/
with
    stores as (
        select source, session_id, precedence, count(distinct message_id) as messages
        from staging.messages
        where precedence is not null
        group by all
    ),
    best as (
        select
            source,
            session_id,
            arg_max(
                precedence, (if(source in ('hermes'), messages, 0), precedence)
            ) as precedence
        from stores
        group by all
    )

select distinct messages.source, messages.session_id, messages.message_id
from staging.messages as messages
inner join
    best on best.source = messages.source and best.session_id = messages.session_id
where coalesce(messages.precedence, 0) <> best.precedence
