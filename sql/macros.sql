/*
call_cost(usage, price): what one call costs in USD, as decimal(18, 6).

use     select call_cost(usage, price) from core.usage as usage
        left join core.prices as price on ...
        Both arguments are names of rows: the alias of a table or of a CTE.
null    No price, or neither input nor output known: null, never 0. So is a
        count too large to be true (try), which must not stop the others. Any
        other count that is unknown adds nothing.
why     Parts are taken out of what contains them: a 1-hour write is a cache
        write, reasoning is output (and adds nothing where it costs the same).
        All in decimals, so that no micro-dollar is lost: DuckDB divides in
        doubles, hence the multiplication by 0.000001.
*/
create or replace macro main.call_cost(usage, price) as
    case
        when usage.input_tokens is not null or usage.output_tokens is not null
        then
            try(
                cast(
                    (
                        coalesce(usage.input_tokens, 0) * price.input_usd
                        + coalesce(usage.cache_read_tokens, 0) * price.cache_read_usd
                        + coalesce(usage.cache_write_tokens, 0) * price.cache_write_usd
                        + coalesce(usage.cache_write_1h_tokens, 0)
                        * (price.cache_write_1h_usd - price.cache_write_usd)
                        + coalesce(usage.output_tokens, 0) * price.output_usd
                        + coalesce(usage.reasoning_tokens, 0)
                        * (price.reasoning_usd - price.output_usd)
                    )
                    * 0.000001
                    + (
                        coalesce(usage.web_search_requests, 0) * price.web_search_usd
                        + price.request_usd
                    )
                    * 0.001 as decimal(18, 6)
                )
            )
    end
;
/*
price_fits(usage, price): whether a rate is the one for a call: of its model, by its date,
its hour, its service tier and the size of its prompt.

why     A total of many calls has no prompt size: it fits only a rate that no size
        changes.
*/
create or replace macro main.price_fits(usage, price) as
    price.model = usage.model
    and price.provider is not distinct from usage.provider
    and price.service_tier is not distinct from usage.service_tier
    and usage.called_at >= coalesce(price.valid_from, timestamptz '-infinity')
    and usage.called_at < coalesce(price.valid_to, timestamptz 'infinity')
    and cast(timezone('UTC', usage.called_at) as time)
    >= coalesce(price.time_from, time '00:00:00')
    and cast(timezone('UTC', usage.called_at) as time)
    < coalesce(price.time_to, time '24:00:00')
    and case
        when usage.granularity = 'call'
        then
            coalesce(usage.input_tokens, 0)
            + coalesce(usage.cache_read_tokens, 0)
            + coalesce(usage.cache_write_tokens, 0)
            > price.tier_above
            and coalesce(usage.input_tokens, 0)
            + coalesce(usage.cache_read_tokens, 0)
            + coalesce(usage.cache_write_tokens, 0)
            <= coalesce(price.tier_upto, 9223372036854775807)
        else price.tier_above < 0 and price.tier_upto is null
    end
;
/*
beyond(total, known): how much of a total is more than what is known.

why     `greatest` steps over nulls and would make 0 of a total that nobody knows.
*/
create or replace macro main.beyond(total, known) as
    if(total is null, null, greatest(0, total - coalesce(known, 0)))
;
/*
project_of(cwd): the folder that a working directory belongs to.

why     Agents work in throw-away worktrees below the repository
        (`.claude/worktrees/x`, `.worktrees/x`); these are the repository's.
*/
create or replace macro main.project_of(cwd) as
    regexp_replace(cwd, '[/\\]\.(claude[/\\]worktrees|worktrees)[/\\].*$', '')
;
/*
place_of(generation, seq): where a record stands in its stream, over all generations.

why     One number to compare, where a pair costs a comparison of structs.
*/
create or replace macro main.place_of(generation, seq) as
    (cast(generation as bigint) << 40) + seq
;
/*
local_date(moment): the date of a moment in the zone of the settings, which one connection
can change for itself by `set variable time_zone = 'Asia/Tokyo'`.
*/
create or replace macro main.local_date(moment) as
    cast(
        timezone(
            coalesce(
                getvariable('time_zone'),
                (select value from meta.settings where name = 'time_zone'),
                'UTC'
            ),
            moment
        ) as date
    )
;
/*
is_asked_for(moment): whether a moment lies in the time that this connection asks about:
from `set variable since = timestamptz '...'` on and before `until`. All is, where
neither is set.
*/
create or replace macro main.is_asked_for(moment) as
    (getvariable('since') is null or moment >= getvariable('since'))
    and (getvariable('until') is null or moment < getvariable('until'))
;
/*
spelling_of(model): the name of a model as all places of one agent have it in common.

why     Some write `4.5` where others write `4-5`.
*/
create or replace macro main.spelling_of(model) as
    replace(lower(model), '.', '-')
;
