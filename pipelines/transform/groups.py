"""Which sessions must be recomputed together.

Copies of a message lie in several sessions, a fork repeats its parent, a parent may
be loaded after its child: what one row means can depend on another session. So
sessions that share an id or a lineage form a group, and a group is always
recomputed as a whole. That makes an incremental refresh equal to a full one.
"""

from collections import defaultdict
from collections.abc import Iterable

from agentlake.models.table import FACTS
from agentlake.pipelines.warehouse.connect import Connection

Session = tuple[str, str]
"""Source and session id."""

# Ids by which two sessions are found to hold the same thing. A counter ties the
# threads of a resume that left no other trace of itself.
_IDS = """
    select source, message_id as id, session_id
    from staging.messages where load_id > $since
    union
    select source, message_id, session_id
    from staging.usage where load_id > $since and message_id <> ''
    union
    select source, usage_key, session_id
    from staging.usage where load_id > $since and usage_key is not null
    union
    select source, scope, session_id
    from staging.usage where load_id > $since and scope is not null
    union
    select source, compaction_id, session_id
    from staging.compactions where load_id > $since
    union
    select source, counter, session_id
    from staging.usage where load_id > $since and counter is not null"""

_LINEAGE = """
    select source, session_id, parent_session_id as other
    from staging.links where load_id > $since
    union
    select source, session_id, parent_session_id
    from staging.sessions where load_id > $since and parent_session_id is not null
    union
    select source, session_id, replay_base
    from staging.sessions where load_id > $since and replay_base is not null
    union
    select source, session_id, request_session_id
    from staging.messages where load_id > $since and request_session_id is not null
    union
    select source, session_id, forked_from_session_id
    from staging.messages where load_id > $since and forked_from_session_id is not null
    union
    select new.source, new.session_id, record.session_id
    from staging.sessions new
    inner join staging.messages record
        on record.source = new.source and record.record_id = new.leaf_record_id
    where new.load_id > $since and new.leaf_record_id is not null
    union
    select new.source, new.session_id, leaf.session_id
    from staging.messages new
    inner join staging.sessions leaf
        on leaf.source = new.source and leaf.leaf_record_id = new.record_id
    where new.load_id > $since"""


def reset(connection: Connection) -> None:
    """Forget all groups; the next update makes them from everything."""
    connection.execute("delete from meta.session_groups")
    connection.execute("delete from meta.session_ids")


def update(connection: Connection, since: int) -> None:
    """Take in the rows of all loads after `since`; inside the caller's transaction."""
    connection.execute("drop table if exists temp.new_ids")
    connection.execute(
        f"""
        create temp table new_ids as
        select source, md5_number_lower(id) as id_hash, session_id from ({_IDS})
        """,
        {"since": since},
    )
    # A session that goes on repeats few ids: look up the new ones, write the news.
    shared = connection.execute(
        """
        with everywhere as (
            select source, id_hash, session_id from new_ids
            union
            select source, id_hash, session_id from meta.session_ids
            where id_hash in (select id_hash from new_ids)
        )
        select distinct source, session_id, other
        from (
            select
                source, session_id,
                min(session_id) over (partition by source, id_hash) as other
            from everywhere
        )
        where session_id <> other
        """
    ).fetchall()
    connection.execute(
        """
        insert into meta.session_ids
        from new_ids
        except
        select source, id_hash, session_id from meta.session_ids
        where id_hash in (select id_hash from new_ids)
        """
    )
    lineage = connection.execute(
        f"select * from ({_LINEAGE}) where session_id <> other", {"since": since}
    ).fetchall()
    _merge(connection, [*shared, *lineage])


def _merge(connection: Connection, pairs: Iterable[tuple[str, str, str]]) -> None:
    pairs = list(pairs)
    if not pairs:
        return
    groups = _groups(connection)
    before = dict(groups)
    members: defaultdict[Session, set[str]] = defaultdict(set)
    for (source, session), group in groups.items():
        members[source, group].add(session)
    for source, one, other in pairs:
        first = groups.setdefault((source, one), one)
        second = groups.setdefault((source, other), other)
        for session, group in ((one, first), (other, second)):
            members[source, group].add(session)
        if first == second:
            continue
        keep, gone = min(first, second), max(first, second)
        for session in members.pop((source, gone)):
            groups[source, session] = keep
            members[source, keep].add(session)
    changed = [
        (source, session, group)
        for (source, session), group in groups.items()
        if before.get((source, session)) != group
    ]
    _save(connection, changed)


def _groups(connection: Connection) -> dict[Session, str]:
    rows = connection.execute("from meta.session_groups").fetchall()
    return {(source, session): group for source, session, group in rows}


def _save(connection: Connection, changed: list[tuple[str, str, str]]) -> None:
    if not changed:
        return
    sources, sessions, groups = map(list, zip(*changed, strict=True))
    values = {"sources": sources, "sessions": sessions, "groups": groups}
    connection.execute(
        """
        delete from meta.session_groups where (source, session_id) in (
            select (unnest($sources), unnest($sessions))
        )
        """,
        {"sources": sources, "sessions": sessions},
    )
    connection.execute(
        """
        insert into meta.session_groups
        select unnest($sources), unnest($sessions), unnest($groups)
        """,
        values,
    )


def portions(connection: Connection, most: int) -> list[list[Session] | None]:
    """All sessions in portions of whole groups, of so many facts at most.

    A group that has more is a portion of its own. None, all of them at once, where
    all together have no more.
    """
    counts = [f"select count(*) as facts from staging.{one.TABLE}" for one in FACTS]
    ((total,),) = connection.execute(
        f"select sum(facts) from ({' union all '.join(counts)})"
    ).fetchall()
    if total <= most:
        return [None]
    facts = " union all ".join(
        f"select source, session_id, count(*) as facts from staging.{one.TABLE}"
        " group by all"
        for one in FACTS
    )
    rows = connection.execute(
        f"""
        select source, list(session_id), sum(facts)
        from ({facts})
        left join meta.session_groups using (source, session_id)
        group by source, coalesce(group_id, session_id)
        order by source, min(session_id)
        """
    ).fetchall()
    found: list[list[Session] | None] = []
    portion: list[Session] = []
    size = 0
    for source, sessions, of_group in rows:
        if portion and size + of_group > most:
            found.append(portion)
            portion, size = [], 0
        portion += [(source, session) for session in dict.fromkeys(sessions)]
        size += of_group
    return [*found, portion]


def touched(connection: Connection, since: int) -> list[Session]:
    """Every session with rows from loads after `since`, and those tied to one."""
    return connection.execute(
        """
        with
            new as (
                select distinct source, session_id
                from meta.session_loads where load_id > $since
            ),
            grouped as (
                select source, group_id from meta.session_groups
                where (source, session_id) in (select (source, session_id) from new)
            )
        from new
        union
        select source, session_id from meta.session_groups
        where (source, group_id) in (select (source, group_id) from grouped)
        order by all
        """,
        {"since": since},
    ).fetchall()
