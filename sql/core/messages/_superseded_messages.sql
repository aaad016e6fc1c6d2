/*
One row per message that a better store tells as well.

grain   source, session_id, message_id
only    staging.messages where precedence is not null
why     Some agents keep one conversation in several stores, under ids that do not
        meet: all messages of a session in the best store count, and no others. Where
        none is better by nature, the one with the most messages or answers is. Where
        a store may hold prompts that cannot be read, prompts are those of the store
        that tells most of them.
*/
with
    read as (
        select distinct source, session_id, message_id
        from staging.blocks
        where source in ('antigravity') and type = 'text' and text_hash is not null
    ),
    stores as (
        select
            messages.source,
            messages.session_id,
            messages.precedence,
            count(distinct messages.message_id) as messages,
            count(distinct messages.message_id) filter (
                where messages.role <> 'user'
            ) as answers,
            count(distinct read.message_id) filter (
                where messages.kind = 'prompt'
            ) as prompts
        from staging.messages as messages
        left join
            read
            on read.source = messages.source
            and read.session_id = messages.session_id
            and read.message_id = messages.message_id
        where messages.precedence is not null
        group by all
    ),
    best as (
        select
            source,
            session_id,
            arg_max(
                precedence,
                row(
                    case
                        source
                        when 'hermes'
                        then messages
                        when 'antigravity'
                        then answers
                        else 0
                    end,
                    precedence
                )
            ) as precedence
        from stores
        group by all
    ),
    most_prompts as (
        select
            stores.source,
            stores.session_id,
            arg_max(
                stores.precedence,
                row(
                    stores.prompts,
                    stores.precedence = best.precedence,
                    stores.precedence
                )
            ) as precedence
        from stores
        inner join
            best on best.source = stores.source and best.session_id = stores.session_id
        group by all
    )

select distinct messages.source, messages.session_id, messages.message_id
from staging.messages as messages
inner join
    best on best.source = messages.source and best.session_id = messages.session_id
inner join
    most_prompts
    on most_prompts.source = messages.source
    and most_prompts.session_id = messages.session_id
where
    coalesce(messages.precedence, 0)
    <> if(messages.kind = 'prompt', most_prompts.precedence, best.precedence)
