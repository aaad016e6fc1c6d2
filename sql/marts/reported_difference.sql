/*
One row per session, model and counter of which the agent itself told a cost or a total, with ours beside it.

grain   source, session_id, model, counter
columns counter (calls | cost_state | running_total | state_database)  Which of the agent's counters it is: its calls' costs, or an account of its own.
        reported_tokens  Prompt and output of the agent's own total together.
        tokens   Prompt and output of our calls together.
        because  Why the two differ, as far as it is known.
why     Theirs and ours are never mixed; where both know a cost they should be equal to the cent. A total of the agent's own holds
        what never reaches the disk (titles, summaries, side calls of searches, retries), so ours is less.
*/
with
    of_calls as (
        select
            source,
            session_id,
            model,
            'calls' as counter,
            max(called_at) as last_called_at,
            sum(reported_cost_usd) as reported_cost_usd,
            sum(cost_usd) as cost_usd,
            bool_or(cost_usd is null) as has_unpriced,
            bool_or(is_estimated) as is_estimated,
            string_agg(distinct price_assumptions, ', ') as price_assumptions
        from core.usage
        where reported_cost_usd is not null and unit = 'tokens'
        group by all
    ),
    ours as (
        select
            usage.source,
            usage.session_id,
            usage.model,
            max(usage.called_at) as last_called_at,
            sum(usage.cost_usd) as cost_usd,
            bool_or(usage.cost_usd is null) as has_unpriced,
            string_agg(distinct usage.price_assumptions, ', ') as price_assumptions,
            sum(prompt_of(usage)) as prompt_tokens,
            sum(usage.output_tokens) as output_tokens
        from core.usage as usage
        where usage.unit = 'tokens'
        group by usage.source, usage.session_id, usage.model
    ),
    accounts as (select * from core._reported_totals where model is not null),
    wholes as (select * from core._reported_totals where model is null),
    sums as (
        select
            source,
            session_id,
            max(last_called_at) as last_called_at,
            sum(cost_usd) as cost_usd,
            bool_or(has_unpriced) as has_unpriced,
            string_agg(distinct price_assumptions, ', ') as price_assumptions,
            sum(prompt_tokens) as prompt_tokens,
            sum(output_tokens) as output_tokens
        from ours
        group by all
    ),
    compared as (
        select *
        from of_calls
        union all by name
        select
            accounts.source,
            accounts.session_id,
            accounts.model,
            accounts.counter,
            ours.last_called_at,
            accounts.reported_cost_usd,
            ours.cost_usd,
            ours.has_unpriced,
            ours.price_assumptions,
            accounts.reported_prompt_tokens,
            coalesce(ours.prompt_tokens, 0) as prompt_tokens,
            accounts.reported_output_tokens,
            coalesce(ours.output_tokens, 0) as output_tokens
        from accounts
        left join
            ours
            on ours.source = accounts.source
            and ours.session_id = accounts.session_id
            and ours.model is not distinct from accounts.model
        union all by name
        select
            wholes.source,
            wholes.session_id,
            null as model,
            wholes.counter,
            sums.last_called_at,
            wholes.reported_cost_usd,
            sums.cost_usd,
            sums.has_unpriced,
            sums.price_assumptions,
            wholes.reported_prompt_tokens,
            coalesce(sums.prompt_tokens, 0) as prompt_tokens,
            wholes.reported_output_tokens,
            coalesce(sums.output_tokens, 0) as output_tokens,
            wholes.reported_tokens
        from wholes
        left join
            sums on sums.source = wholes.source and sums.session_id = wholes.session_id
    )

select
    compared.source,
    compared.session_id,
    compared.model,
    compared.counter,
    compared.last_called_at,
    cast(compared.reported_cost_usd as decimal(18, 6)) as reported_cost_usd,
    cast(compared.cost_usd as decimal(18, 6)) as cost_usd,
    cast(
        compared.reported_cost_usd - compared.cost_usd as decimal(18, 6)
    ) as difference_usd,
    cast(compared.reported_prompt_tokens as bigint) as reported_prompt_tokens,
    cast(compared.prompt_tokens as bigint) as prompt_tokens,
    cast(compared.reported_output_tokens as bigint) as reported_output_tokens,
    cast(compared.output_tokens as bigint) as output_tokens,
    cast(
        coalesce(
            compared.reported_tokens,
            compared.reported_prompt_tokens + compared.reported_output_tokens
        ) as bigint
    ) as reported_tokens,
    cast(compared.prompt_tokens + compared.output_tokens as bigint) as tokens,
    case
        when
            coalesce(
                abs(compared.reported_cost_usd - compared.cost_usd) < 0.005,
                compared.reported_cost_usd is null
            )
            and coalesce(compared.reported_output_tokens = compared.output_tokens, true)
            and coalesce(compared.reported_prompt_tokens = compared.prompt_tokens, true)
            and coalesce(
                compared.reported_tokens
                = compared.prompt_tokens + compared.output_tokens,
                true
            )
        then 'equal'
        when compared.counter = 'state_database' and sessions.session_id is null
        then 'its files are not here'
        when
            sessions.relation <> 'main'
            and compared.counter in ('running_total', 'state_database')
        then 'the total goes on from that of its parent'
        when
            compared.reported_output_tokens > compared.output_tokens
            or compared.reported_prompt_tokens > compared.prompt_tokens
            or compared.reported_tokens
            > compared.prompt_tokens + compared.output_tokens
        then 'calls that are not on disk: titles, summaries, searches, retries'
        when
            compared.reported_output_tokens < compared.output_tokens
            or compared.reported_prompt_tokens < compared.prompt_tokens
            or compared.reported_tokens
            < compared.prompt_tokens + compared.output_tokens
        then 'the counter began anew, or does not count all'
        when compared.has_unpriced
        then 'we know no price of some calls'
        when compared.price_assumptions is not null
        then 'our price rests on an assumption: ' || compared.price_assumptions
        when compared.is_estimated
        then 'the agent gives less than the whole'
        else 'another price list than ours'
    end as because
from compared
left join
    core.sessions as sessions
    on sessions.source = compared.source
    and sessions.session_id = compared.session_id
order by
    abs(compared.reported_cost_usd - compared.cost_usd) desc nulls last,
    compared.source asc,
    compared.session_id asc
