"""What older versions of a record said makes room for what the newest one says.

Raw keeps every version; staging holds the facts of the newest. Two things outlive
their version: usage that no newer version shows (a reverted turn was paid for), and
totals, whose history tells on which days they grew.
"""

from collections.abc import Iterable, Iterator, Sequence

from agentlake.adapters.sdk.contract import Adapter, Record, Reject
from agentlake.adapters.sdk.run import facts_of
from agentlake.models.fact import Fact
from agentlake.models.gone import Gone
from agentlake.models.message import Message
from agentlake.models.session import Session
from agentlake.models.table import FACTS
from agentlake.models.usage import Usage
from agentlake.pipelines.ingest.batch import Origin
from agentlake.pipelines.warehouse.connect import Connection
from agentlake.pipelines.warehouse.schema import raw_table

SNAPSHOT = "snapshot"


def gone_facts(adapter: Adapter, record: Record) -> list[Fact]:
    """What to say of a record that its source no longer has; `record` is as it was."""
    facts, _ = facts_of(adapter, record)
    found = {
        (one.session_id, one.agent_id, getattr(one, "message_id", None)): None
        for one in facts
        if isinstance(one, Message | Session)
    }
    return [
        Gone(session_id=session, agent_id=agent, message_id=message)
        for session, agent, message in found
    ]


def has_bill(facts: Iterable[Fact]) -> bool:
    """Whether usage is among the facts that supersedes older usage."""
    return any(isinstance(one, Usage) and one.kind != SNAPSHOT for one in facts)


def supersede(
    connection: Connection,
    source: str,
    replaced: Sequence[tuple[int, str, bool]],
    load_id: int,
) -> None:
    """Delete the facts of what is in raw of these records; inside the transaction.

    `replaced` names each record by stream and key, and says whether its new version
    has usage of its own. To be called before the new versions are written.
    """
    if not replaced:
        return
    streams, keys, bills = map(list, zip(*replaced, strict=True))
    connection.execute(
        f"""
        create or replace temp table superseded as
        select raw.stream_id, raw.generation, raw.seq, new.has_bill
        from {raw_table(source)} as raw
        inner join (
            select
                unnest($streams) as stream_id, unnest($keys) as record_key,
                unnest($bills) as has_bill
        ) as new
            on new.stream_id = raw.stream_id and new.record_key = raw.record_key
        where raw.stream_id in (select unnest($streams))
        """,
        {"streams": streams, "keys": keys, "bills": bills},
    )
    sessions: set[str] = set()
    for fact in FACTS:
        outlives = ""
        if fact is Usage:
            outlives = f"and has_bill and kind <> '{SNAPSHOT}'"
        rows = connection.execute(
            f"""
            delete from staging.{fact.TABLE} as old using superseded
            where old.source = $1 and old.stream_id = superseded.stream_id
            and old.generation = superseded.generation and old.seq = superseded.seq
            {outlives}
            returning old.session_id
            """,
            [source],
        ).fetchall()
        sessions.update(session for (session,) in rows)
    for table in ("rejects", "unknown_records"):
        connection.execute(
            f"""
            delete from meta.{table} as old using superseded
            where old.source = $1 and old.stream_id = superseded.stream_id
            and old.generation = superseded.generation and old.seq = superseded.seq
            """,
            [source],
        )
    connection.execute("drop table superseded")
    connection.execute(
        "insert into meta.session_loads select $1, unnest($2), $3",
        [source, sorted(sessions), load_id],
    )


class Parsed:
    """A version of a record, and what it says."""

    def __init__(
        self, adapter: Adapter, record: Record, *, is_gone: bool, origin: Origin
    ) -> None:
        self.record = record
        self.origin = origin
        self.is_gone = is_gone
        self.rejects: list[Reject] = []
        if is_gone:
            self.facts = gone_facts(adapter, record)
        else:
            self.facts, self.rejects = facts_of(adapter, record)


def survivors(versions: Sequence[Parsed]) -> Iterator[Parsed]:
    """What is left of the versions of a record, oldest first: as if loaded one by one.

    The facts of a version that is not the newest are cut down to what outlives it.
    """
    newest_live = max(
        (at for at, one in enumerate(versions) if not one.is_gone), default=0
    )
    billed = max(
        (at for at, one in enumerate(versions) if has_bill(one.facts)), default=0
    )
    for at, one in enumerate(versions):
        if at < newest_live:
            one.rejects = []
            one.facts = [
                fact
                for fact in one.facts
                if isinstance(fact, Usage) and (fact.kind == SNAPSHOT or at == billed)
            ]
        yield one
