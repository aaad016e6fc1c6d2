/*
One row per session or subagent with the session above it.

grain   source, session_id, agent_id
why     A subagent's parent is its session, a thread's the one its header names, a
        branch's the one its copied records name. A session that holds another's
        messages and does not say why goes on from it; one that says it is a fork, but
        not whose, is that session's fork.
*/
with recursive
    spoken as (
        select source, session_id, agent_id
        from core.messages
        union
        select source, session_id, null as agent_id
        from core._remnants
    ),
    named as (
        select source, session_id, parent_session_id, relation, 1 as priority, seq
        from staging.sessions
        where agent_id is null
        union all by name
        select source, session_id, parent_session_id, relation, 2 as priority, seq
        from staging.links
        where agent_id is null and relation <> 'copied'
        union all by name
        select
            source,
            session_id,
            coalesce(forked_from_session_id, request_session_id) as parent_session_id,
            'fork' as relation,
            if(forked_from_session_id is null, 4, 3) as priority,
            seq
        from staging.messages
        union all by name
        select
            messages.source,
            messages.session_id,
            owners.session_id as parent_session_id,
            'continuation' as relation,
            5 as priority,
            messages.seq
        from core.messages as messages
        inner join
            core._message_owners as owners
            on owners.source = messages.source
            and owners.message_id = messages.message_id
        where messages.is_copied
    ),
    parents as (
        select
            source,
            session_id,
            arg_min(
                struct_pack(
                    session_id := parent_session_id,
                    relation := relation,
                    is_guess := priority = 5
                ),
                (priority, seq, parent_session_id)
            ) as best
        from named
        where parent_session_id <> session_id
        group by all
    ),
    above as (
        select source, session_id, best.session_id as ancestor_id, 1 as depth
        from parents
        union
        select
            below.source,
            below.session_id,
            parents.best.session_id as ancestor_id,
            below.depth + 1 as depth
        from above as below
        inner join
            parents
            on parents.source = below.source
            and parents.session_id = below.ancestor_id
        where below.depth < 100
    ),
    roots as (
        select source, session_id, arg_max(ancestor_id, depth) as root_session_id
        from above
        group by all
    ),
    relations as (
        select source, session_id, any_value(relation) as relation
        from staging.sessions
        where agent_id is null and relation is not null
        group by all
    )

select
    spoken.source,
    spoken.session_id,
    spoken.agent_id,
    if(
        spoken.agent_id is null, parents.best.session_id, spoken.session_id
    ) as parent_session_id,
    coalesce(roots.root_session_id, spoken.session_id) as root_session_id,
    case
        when spoken.agent_id is not null
        then 'subagent'
        else
            coalesce(
                if(parents.best.is_guess, relations.relation, null),
                parents.best.relation,
                relations.relation,
                'main'
            )
    end as relation
from spoken
left join
    parents on parents.source = spoken.source and parents.session_id = spoken.session_id
left join roots on roots.source = spoken.source and roots.session_id = spoken.session_id
left join
    relations
    on relations.source = spoken.source
    and relations.session_id = spoken.session_id
