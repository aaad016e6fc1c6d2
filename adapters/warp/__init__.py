"""Warp (agent mode): the terminal's own database, one per channel.

Where:   warp.sqlite in ~/.local/state/warp-terminal (-preview, -dev; warp-oss), on
         macOS in ~/Library/Group Containers/2BBY89MBSN.dev.warp/Library/Application
         Support/dev.warp.Warp-<channel>, on Windows in %LOCALAPPDATA%/warp/<channel>/
         data; that of the terminal edition in tui/ below it.
Seen:    nothing real; tables, JSON names and protobuf numbers as Warp's own source has
         them (August 2026). The places on Windows are uncertain.
Trap:    tokens are known only as one total per conversation and model, input, output
         and cache in one: their unit is unsplit_tokens, never a token column. Credits
         are a total as well. The transcript is protobuf in agent_tasks; ai_queries
         only tells prompts where a conversation has no task. Times are UTC. A
         conversation keeps its totals when it is summarised or restored lower.
Missing: what a tool answered, but for the output of commands while the terminal
         keeps their blocks; arguments of other tools than commands. Whether a
         conversation's totals include those of its child agents, or a fork's those
         of what it was forked from, is not known: sums over both may count twice.
"""

from collections.abc import Iterable, Iterator, Sequence

from agentlake.adapters.sdk.contract import (
    Health,
    Options,
    Record,
    Reject,
    Stream,
    Table,
)
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import matching
from agentlake.adapters.warp import facts, talk
from agentlake.adapters.warp.format import (
    BLOCK_ROW,
    CONVERSATION_ROW,
    QUERY_ROW,
    TASK_ROW,
)
from agentlake.models.fact import Fact

SOURCE = "warp"
NAME = "Warp"
ICON = "🚀"
STORES = ("databases",)
_STATE = "${XDG_STATE_HOME:-~/.local/state}"
_MAC = "Library/Application Support"
_WINDOWS = "${LOCALAPPDATA:-~/AppData/Local}/warp"
_CHANNELS = ("Stable", "Preview", "Dev", "Local")
ROOTS = (
    Root(
        default=(
            *(f"{_STATE}/warp-terminal{it}" for it in ("", "-preview", "-dev")),
            f"{_STATE}/warp-oss",
            *(
                f"{above}/dev.warp.Warp-{channel}"
                for above in (
                    f"~/Library/Group Containers/2BBY89MBSN.dev.warp/{_MAC}",
                    f"~/{_MAC}",
                )
                for channel in _CHANNELS
            ),
            *(f"{_WINDOWS}/{it}/data" for it in ("Warp", "Warp-Preview", "Warp-Dev")),
        )
    ),
)
PARSER_VERSION = 2

_HAS_TASKS = """exists (
    select 1 from agent_tasks as tasks
    where tasks.conversation_id = ai_queries.conversation_id
)"""
_FIRST_DIRECTORY = """(
    select working_directory from ai_queries as queries
    where queries.conversation_id = agent_conversations.conversation_id
    order by start_ts, queries.id limit 1
)"""


def discover(root: str, options: Options) -> Iterator[Stream]:
    """The terminal's database and that of its text edition."""
    del options
    for name in ("tui/warp.sqlite", "warp.sqlite"):
        for path in matching(root, name):
            yield Stream(path=path, key=path, reader="sqlite")


def tables(stream: Stream) -> Sequence[Table]:
    """Four of many: the others hold variables, notebooks and the user's own commands.

    The places of the tables do not overlap, so that none depends on what another
    one holds; the messages of a task are counted on from its place.
    """
    del stream
    return (
        Table(
            name="ai_queries",
            key=("exchange_id",),
            order="id * 1000",
            version=f"output_status || '/' || length(input) || '/' || {_HAS_TASKS}",
            instead={"has_tasks": _HAS_TASKS},
        ),
        Table(
            name="agent_conversations",
            key=("conversation_id",),
            order="id * 1000 + 1",
            instead={"first_directory": _FIRST_DIRECTORY},
        ),
        Table(
            name="agent_tasks",
            key=("conversation_id", "task_id"),
            order="id * 1000 + 2",
            group="conversation_id",
            version="last_modified_at || '/' || length(task)",
        ),
        Table(
            name="blocks",
            key=("block_id",),
            order="id * 1000 + 3",
            version="completed_ts || '/' || length(stylized_output)",
            where="ai_metadata like '%action_id%'",
            without=(
                "pane_leaf_uuid",
                "stylized_command",
                "ps1",
                "rprompt",
                "prompt_snapshot",
                "user",
                "host",
            ),
        ),
    )


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A row of one of four tables."""
    match record.key.partition("/")[0]:
        case "agent_tasks":
            task, rejects = TASK_ROW.decode(record.data)
            yield from talk.task(task)
        case "agent_conversations":
            conversation, rejects = CONVERSATION_ROW.decode(record.data)
            yield from facts.conversation(conversation)
        case "ai_queries":
            query, rejects = QUERY_ROW.decode(record.data)
            yield from facts.query(query)
        case _:
            block, rejects = BLOCK_ROW.decode(record.data)
            yield from facts.command(block)
    yield from rejects


def health(root: str) -> Health:
    """How much Warp keeps; the rest goes when more is added, however old it is."""
    del root
    return Health(
        notes=("Warp keeps the last 200 conversations and 10,000 prompts: load often",)
    )
