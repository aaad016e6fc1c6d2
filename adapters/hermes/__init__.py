"""Hermes Agent (Nous Research): one database per profile.

Where:   ~/.hermes/state.db and profiles/<name>/state.db below it. HERMES_HOME
         overrides ~/.hermes.
Seen:    nothing real; tables and counters as its own source has them (schema 30,
         November 2026). Older databases lack both usage tables and many columns.
Trap:    tokens are running totals per session, model, provider and task; the main loop
         is in `sessions` too, auxiliary tasks (vision, titles, compression) are not.
         A gateway writes only `sessions`, so of these counts what no model row shows.
         A session that was compressed or branched goes on in a new one that begins
         with clones of the last messages, under new ids and the old times.
Missing: whether a gateway's totals of a session that goes on after a compression
         repeat those of the one before is not settled; they are added. The transcripts
         of older versions in sessions/ are not described anywhere and not read. Which
         row is the summary of a compaction in place. Calls through a proxy on this
         machine (provider `... via localhost`) may stand in another agent's
         history as well.
"""

from collections.abc import Iterable, Iterator, Sequence

from agentlake.adapters.hermes import facts
from agentlake.adapters.hermes.format import MESSAGE, SESSION, SPENT
from agentlake.adapters.sdk.contract import Options, Record, Reject, Stream, Table
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import matching
from agentlake.models.fact import Fact

SOURCE = "hermes"
ROOTS = (Root(env="HERMES_HOME", default=("~/.hermes",)),)
PARSER_VERSION = 2


def discover(root: str, options: Options) -> Iterator[Stream]:
    """The database of each profile; copies made for repair have other names."""
    del options
    found = matching(root, "state.db") + matching(root, "profiles/*/state.db")
    for path in sorted(found):
        yield Stream(path=path, key=path, reader="sqlite")


def tables(stream: Stream) -> Sequence[Table]:
    """Sessions, messages and what each model was used for."""
    del stream
    return (
        Table(
            name="sessions",
            key=("id",),
            order="rowid * 3",
            without=("system_prompt", "user_id"),  # long and equal; a person's account
        ),
        Table(
            name="messages",
            key=("session_id", "id"),
            group="session_id",
            order="id * 3 + 1",
            version="id || '/' || active || '/' || compacted",
        ),
        Table(
            name="session_model_usage",
            key=(
                "session_id",
                "model",
                "billing_provider",
                "billing_base_url",
                "billing_mode",
                "task",
            ),
            order="rowid * 3 + 2",
        ),
    )


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A row of one of three tables."""
    match record.key.partition("/")[0]:
        case "sessions":
            session, rejects = SESSION.decode(record.data)
            yield from facts.session(session)
        case "messages":
            message, rejects = MESSAGE.decode(record.data)
            yield from facts.message(message)
        case _:
            spent, rejects = SPENT.decode(record.data)
            yield from facts.spent(spent)
    yield from rejects
