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
assumed_usd(usage), reported_only_usd(usage), unknown_cost_calls(usage): what a sum of costs
says beside itself: how much of it rests on assumptions, what only the agent itself reported
of calls without a price, and how many calls have no cost at all.

use     select sum(usage.cost_usd), reported_only_usd(usage) from core.usage as usage
        They are aggregates; the argument is the name of the rows.
*/
create or replace macro main.assumed_usd(usage) as
    cast(
        sum(usage.cost_high_usd) filter (
            where usage.price_assumptions is not null
        ) as decimal(18, 6)
    )
;
create or replace macro main.reported_only_usd(usage) as
    cast(
        sum(usage.reported_cost_usd) filter (
            where usage.cost_low_usd is null
        ) as decimal(18, 6)
    )
;
create or replace macro main.unknown_cost_calls(usage) as
    count(*) filter (
        where usage.cost_low_usd is null and usage.reported_cost_usd is null
    )
;
/*
is_offered(usage, price): whether a rate is one of what was used: the same source,
provider, model, tier and region, as the record has them.
*/
create or replace macro main.is_offered(usage, price) as
    price.model = usage.model
    and price.source = usage.source
    and price.provider is not distinct from usage.provider
    and price.service_tier is not distinct from usage.service_tier
    and price.region is not distinct from usage.region
;
/*
prompt_of(usage): how many tokens were asked, whatever a cache did with them.
*/
create or replace macro main.prompt_of(usage) as
    coalesce(usage.input_tokens, 0)
    + coalesce(usage.cache_read_tokens, 0)
    + coalesce(usage.cache_write_tokens, 0)
;
/*
is_at_hour(price, called_at): whether a rate is one for that hour and day of the week, in
UTC.
*/
create or replace macro main.is_at_hour(price, called_at) as
    cast(timezone('UTC', called_at) as time)
    >= coalesce(price.time_from, time '00:00:00')
    and cast(timezone('UTC', called_at) as time)
    < coalesce(price.time_to, time '24:00:00')
    and (
        price.weekdays is null
        or (price.weekdays >> (isodow(timezone('UTC', called_at)) - 1)) & 1 = 1
    )
;
/*
price_fits(usage, price): whether a rate is the one for a call: of what was used, by its
date, hour and day of the week, and by the size of its prompt.
*/
create or replace macro main.price_fits(usage, price) as
    is_offered(usage, price)
    and usage.called_at >= coalesce(price.valid_from, timestamptz '-infinity')
    and usage.called_at < coalesce(price.valid_to, timestamptz 'infinity')
    and is_at_hour(price, usage.called_at)
    and prompt_of(usage) > price.tier_above
    and prompt_of(usage) <= coalesce(price.tier_upto, 9223372036854775807)
;
/*
price_may_fit(usage, price, since): whether a rate can be one for a sum of calls, which
does not say how large each was and at which hours, or for a call without a time.

null    `since` is when the sum was last seen; null: all of it was used at its own time.
why     No call of a sum is larger than the sum.
*/
create or replace macro main.price_may_fit(usage, price, since) as
    is_offered(usage, price)
    and (
        usage.called_at is null
        or (
            usage.called_at >= coalesce(price.valid_from, timestamptz '-infinity')
            and coalesce(since, usage.called_at)
            < coalesce(price.valid_to, timestamptz 'infinity')
        )
    )
    and prompt_of(usage) > price.tier_above
    and (
        usage.granularity <> 'call'
        or prompt_of(usage) <= coalesce(price.tier_upto, 9223372036854775807)
    )
;
/*
beyond(total, known): how much of a total is more than what is known.

why     `greatest` steps over nulls and would make 0 of a total that nobody knows.
*/
create or replace macro main.beyond(total, known) as
    if(total is null, null, greatest(0, total - coalesce(known, 0)))
;
/*
slashes_of(path): a path with its slashes forward and single, and none at the end; null for
none.

why     Windows takes `c:\x` and `C:/x/` for one folder, and sees those of a Linux beside
        it below `\\wsl.localhost`; a Mac has its /tmp in /private.
*/
create or replace macro main.slashes_of(path) as
    nullif(
        regexp_replace(
            if(
                regexp_matches(path, '^(\\\\|[A-Za-z]:)'),
                replace(path, chr(92), '/'),
                path
            ),
            '^/{2}[?.]/',
            ''
        )
        .regexp_replace('(?i)^/{2}wsl(\.localhost|\$)/[^/]+', '')
        .regexp_replace('([^/])/(\.?/)+', '\1/', 'g')
        .regexp_replace('([^/:])/\.?$', '\1')
        .regexp_replace('^/private(/(tmp|var)(/|$))', '\1'),
        ''
    )
;
/*
path_of(path): a path in one spelling, whoever wrote it: see slashes_of; a drive in
capitals.
*/
create or replace macro main.path_of(path) as
    if(
        regexp_matches(slashes_of(path), '^[a-z]:'),
        upper(left(slashes_of(path), 1)) || substr(slashes_of(path), 2),
        slashes_of(path)
    )
;
/*
project_of(cwd): the folder that a working directory belongs to.

why     Agents work in throw-away worktrees. Those below the repository
        (`.claude/worktrees/x`, `.worktrees/x`, `.git/worktrees/x`) or named after it
        (`shop.worktrees/x`) are the repository's. Those in a folder of the agent name
        the repository only: of these what names this one worktree is left out.
*/
create or replace macro main.project_of(cwd) as
    regexp_replace(
        path_of(cwd)
        .regexp_replace('/(\.claude/worktrees|\.worktrees|\.git)(/.*)?$', '')
        .regexp_replace('([^/])\.worktrees/.*$', '\1')
        .regexp_replace('(/\.?codex/worktrees)/[^/]+(/[^/]+).*$', '\1\2'),
        '(/(?:\.(?:cursor|windsurf|superset)/worktrees|\.claude-worktrees'
        || '|conductor/workspaces)/[^/]+)/.*$',
        '\1'
    )
;
/*
worktree_of(project): where it is that a project of project_of lies, if that is a folder in
which an agent keeps worktrees of repositories: the home, and the name of the repository.
*/
create or replace macro main.worktree_of(project) as
    regexp_extract(
        project,
        '^(.*)/(?:\.?(?:codex|cursor|windsurf|superset)/worktrees|\.claude-worktrees'
        || '|conductor/workspaces)/([^/]+)$',
        ['home', 'name']
    )
;
/*
repository_of(url): a repository by its address, however that was written: the host and
path, without scheme, user, port and `.git`; null for none.
*/
create or replace macro main.repository_of(url) as
    nullif(
        lower(trim(url))
        .regexp_replace('^[a-z+]+:/{2}', '')
        .regexp_replace('^[^@/]*@', '')
        .regexp_replace('^([^:/]+):(\d+/)?', '\1/')
        .regexp_replace('(\.git)?/*$', '')
        .regexp_replace('^(www\.)?github\.com/', ''),
        ''
    )
;
/*
place_of(generation, seq): where a record stands in its stream, over all generations.

why     One number to compare, where a pair costs a comparison of structs.
*/
create or replace macro main.place_of(generation, seq) as
    (cast(generation as bigint) << 40) + seq
;
/*
is_replay(seq, head_seq, own_from_seq): whether a record of a stream repeats another
session, by the row of core._replays for its stream; false where there is none.
*/
create or replace macro main.is_replay(seq, head_seq, own_from_seq) as
    coalesce(seq > head_seq and seq < own_from_seq, false)
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
is_within(project, folder): whether a project is this folder or lies below it. The last
part of the folder's path is enough: `shop` for `/home/ada/shop`.
*/
create or replace macro main.is_within(project, folder) as
    project = folder
    or starts_with(project, folder || '/')
    or starts_with(project, folder || chr(92))  -- a backslash
    or regexp_extract(project, '[^/\\]+$') = folder
;
/*
is_of_project(project, cwd, folder): whether a session belongs to the project in a folder,
however that is spelled: its project is within it, or it worked there or below.
*/
create or replace macro main.is_of_project(project, cwd, folder) as
    coalesce(is_within(project, path_of(folder)), false)
    or coalesce(
        path_of(cwd) = path_of(folder)
        or starts_with(path_of(cwd), rtrim(path_of(folder), '/') || '/'),
        false
    )
;
/*
session_key(source, session_id): both in one text, by which a connection names sessions.
*/
create or replace macro main.session_key(source, session_id) as
    source || chr(31) || session_id
;
/*
is_chosen(of_source, of_session): whether this connection asks about a session: of one of
`set variable sources = ['codex']`, and among `session_keys`, as far as these are set.
*/
create or replace macro main.is_chosen(of_source, of_session) as
    (getvariable('sources') is null or list_contains(getvariable('sources'), of_source))
    and (
        getvariable('session_keys') is null
        or session_key(of_source, of_session)
        in (select unnest(cast(getvariable('session_keys') as varchar [])))
    )
;
/*
is_chosen_model(model): the same of a model, by `set variable models = ['gpt-5.1']`.
*/
create or replace macro main.is_chosen_model(model) as
    getvariable('models') is null
    or coalesce(list_contains(getvariable('models'), model), false)
;
/*
spelling_of(model): the name of a model as all places of one agent have it in common.

why     Some write `4.5` where others write `4-5`.
*/
create or replace macro main.spelling_of(model) as
    replace(lower(model), '.', '-')
;
/*
harness_block(): the pattern of a block that a harness or an editor puts before or behind
a prompt, in tags of its own; the user's own HTML has others.
*/
create or replace macro main.harness_block() as
    replace(
        '<(?:TAGS)(?:\s[^>]*)?>.*?</(?:TAGS)>',
        'TAGS',
        'system[-_](?:reminder|info)|user[-_](?:info|instructions|action|shell_command)'
        || '|environment[-_](?:context|details|info)|workspace[-_]info|project_layout'
        || '|git_status|editor_?context|attached_files|additional_data'
        || '|(?:ide|external|in-app|app|session|goal|skill)[-_][a-z_-]+|skill'
        || '|(?:skills|plugins|apps|permissions)[_ ]instructions|recommended_plugins'
        || '|open_and_recently_viewed_files|reminder_?instructions|response-annotations'
        || '|collaboration_mode|multi_agent_mode|model_switch|codex_internal_context'
        || '|hook_prompt|user-prompt-submit-hook|turn_aborted|subagent_notification'
        || '|(?:task|agent|bash)-notification|local-command-caveat'
    )
;
/*
without(text, pattern): a text without what a pattern finds in it, in whatever case.
*/
create or replace macro main.without(text, pattern) as
    regexp_replace(text, '(?is)' || pattern, '', 'g')
;
/*
typed(text): what a person typed of a prompt, without what a harness or an editor put
around it; empty where that is all there is.

why     Whatever the agent: reminders, open files and the state of the folder are
        written into the message of the user, and some mark the prompt instead.
*/
create or replace macro main.typed(text) as
    case
        when not regexp_matches(text, '^\s*[#<]|>\s*$|<image name=')
        then text
        else
            trim(
                without(text, '<image name=[^>\n]*>(?:\s*</image>)?|^\s*</image>')
                .without('<system[-_]reminder>.*?</system[-_]reminder>')
                .without(
                    '^(?:\s*# AGENTS\.md instructions.*?</INSTRUCTIONS>|\s*'
                    || harness_block()
                    || ')+'
                )
                -- an editor's list ends in a heading
                .without(
                    '^\s*(?:#{1,3} [^\n]*\n(?:.*?\n)??\s*)?'
                    || '#{1,3} my request(?: for [a-z]+)?:[ \t]*'
                )
                .without('^\s*#{1,3} user input:?[ \t]*(?:\n|$)')
                .without(
                    '^\s*#{1,2} (?:context from my ide setup'
                    || '|(?:files|applications) mentioned by the user'
                    || '|referenced chat[a-z ]*|response annotations):.*$'
                )
                .without('(?:\n\s*' || harness_block() || ')+\s*$')
                -- in these tags the prompt itself stands
                .regexp_replace(
                    '(?is)^(?:.*?<user_?(?:query|request)>(.*?)'
                    || '</user_?(?:query|request)>.*'
                    || '|\s*<(?:task|feedback|user_?message)>(.*)'
                    || '</(?:task|feedback|user_?message)>\s*)$',
                    '\1\2'
                ),
                chr(10) || chr(13) || chr(9) || ' '
            )
    end
;
/*
title_of(text): the first meaningful line of a text, as a title of at most 100 characters;
null where no line says anything.

why     Rules, fences, tags and blank lines say nothing, and an error of the service that
        stands where the title should be is nobody's title. What is pasted below the
        first 10,000 characters is not looked through.
*/
create or replace macro main.title_of(text) as
    list_transform(
        list_filter(
            list_transform(
                regexp_split_to_array(left(text, 10000), '[\r\n]+'),
                lambda line: trim(
                    regexp_replace(line, '^[\s\x{FEFF}]*(?:#{1,6}\s+)?', ''),
                    chr(9) || ' '
                )
            ),
            lambda line: regexp_matches(line, '[\pL\pN]')
            and not regexp_matches(line, '^(?:```|</?[\w-]+>$|API Error\b)')
        )[:1],
        lambda line: if(length(line) > 100, rtrim(left(line, 99)) || '…', line)
    )[1]
;
/*
reason_of(text): the line of a failed call's output that says why it failed.

why     Some harnesses put lines about the run before the output, or the reason into tags;
        a Python traceback ends with its reason. Where nothing else is said, how it
        ended is the reason.
*/
create or replace macro main.reason_of(text) as
    list_transform(
        [
            list_filter(
                list_transform(
                    regexp_split_to_array(text, '[\r\n]+'),
                    lambda line: trim(
                        regexp_replace(
                            line, '</?(?:tool_use_error|error|stderr|stdout)>', '', 'g'
                        )
                    )
                ),
                lambda line: regexp_matches(line, '[\pL\pN]')
            )
        ],
        lambda lines: left(
            list_transform(
                [
                    list_filter(
                        lines,
                        lambda line: not regexp_matches(
                            line,
                            '^(?:(?:Chunk ID|Wall time|Original token count'
                            || '|Total output lines|Output|Exit code)\b'
                            || '|Process exited with code|Script (?:failed|completed)$)'
                        )
                    )
                ],
                lambda told: coalesce(
                    if(starts_with(told[1], 'Traceback '), told[-1], told[1]),
                    list_filter(
                        lines, lambda line: regexp_matches(line, '(?i)exit|failed')
                    )[1],
                    lines[1]
                )
            )[1],
            300
        )
    )[1]
;
/*
uuid_ms(id): the time that an id tells, in milliseconds since 1970, if it is a UUIDv7.
*/
create or replace macro main.uuid_ms(id) as
    case
        when regexp_full_match(id, '(?i)[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}')
        then cast('0x' || left(replace(id, '-', ''), 12) as bigint)
    end
;
/*
id_of_reply(id, began_us): the id of a reply, with the moment at which it began where others
have the same id: see core._reused_ids.
*/
create or replace macro main.id_of_reply(id, began_us) as
    if(began_us is null, id, id || '@' || began_us)
;
