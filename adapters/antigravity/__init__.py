"""Google Antigravity, editor and command line: one database per conversation.

Where:   conversations/<id>.db in ~/.gemini/antigravity-cli, antigravity-ide and
         antigravity; what was typed on the command line in its history.jsonl.
Seen:    nothing real; tables and field numbers of its protobuf as other tools found
         them, no schema is public. Those of steps and of the folder are uncertain.
Trap:    the first number of a usage is which model it was (1000 to 4999), and no
         tokens, as some tools take it for. Input is without what was cached; output
         includes thinking. A call is known by the id of its response. One without a
         time has that of its step, taken to be the answer of the same number, else
         that of its conversation. Models may be placeholders: kept as they are.
Missing: conversations in .pb files, which are encrypted: only what was typed is known,
         without tokens. Which conversation began another one. Results of other tools
         than commands; the documents in brain/ and the notes in annotations/.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from agentlake.adapters.antigravity import facts
from agentlake.adapters.sdk.contract import Options, Record, Reject, Stream, Table
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import matching
from agentlake.models.fact import Fact

SOURCE = "antigravity"
ROOTS = (
    Root(
        default=(
            "~/.gemini/antigravity-cli",
            "~/.gemini/antigravity-ide",
            "~/.gemini/antigravity",
        ),
        strip="conversations",
    ),
)
PARSER_VERSION = 2

_STEP = """(
    select metadata from steps where idx = (
        select idx from (
            select idx, row_number() over (order by idx) - 1 as number
            from steps where step_type = 15
        ) where number = gen_metadata.idx
    )
)"""
_CONVERSATION = "(select data from trajectory_metadata_blob order by rowid limit 1)"


def discover(root: str, options: Options) -> Iterator[Stream]:
    """The database of each conversation, and the list of what was typed."""
    del options
    for path in matching(root, "conversations/*.db"):
        yield Stream(path=path, key=path, reader="sqlite")
    for path in matching(root, "history.jsonl"):
        yield Stream(path=path, key=path)


def tables(stream: Stream) -> Sequence[Table]:
    """Three of seven: the others tell how the program runs, or are of no known form.

    The places of the tables do not overlap.
    """
    del stream
    return (
        Table(name="trajectory_metadata_blob", key=("id",), order="rowid * 3"),
        Table(
            name="steps",
            key=("idx",),
            order="idx * 3 + 1",
            version="ifnull(status, 0) || '/' || ifnull(length(step_payload), 0)"
            " || '/' || ifnull(length(metadata), 0)",
            without=("permissions", "task_details", "render_info"),
        ),
        Table(
            name="gen_metadata",
            key=("idx",),
            order="idx * 3 + 2",
            instead={"step": _STEP, "conversation": _CONVERSATION},
        ),
    )


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A row of one of three tables, or something that was typed."""
    path = Path(record.stream.path.replace("\\", "/"))
    if path.suffix == ".jsonl":
        return facts.typed(record)
    match record.key.partition("/")[0]:
        case "gen_metadata":
            return facts.usage(path.stem, record)
        case "steps":
            return facts.step(path.stem, record)
        case _:
            return facts.conversation(path.stem, record)
