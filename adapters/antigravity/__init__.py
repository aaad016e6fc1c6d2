"""Google Antigravity, editor and command line: one database per conversation.

Where:   conversations/<id>.db in ~/.gemini/antigravity-cli, antigravity-ide and
         antigravity; brain/<id>/.system_generated/logs/transcript.jsonl and, with
         nothing cut, transcript_full.jsonl: the same in plain text, without tokens;
         what was typed on the command line in its history.jsonl.
Seen:    nothing real; tables and field numbers of its protobuf as other tools found
         them, no schema is public. Those of steps and of the folder are uncertain.
Trap:    the first number of a usage is which model it was (1000 to 4999), and no
         tokens, as some tools take it for. Input is without what was cached; output
         includes thinking. A call is known by the id of its response. One without a
         time has that of its step, taken to be the answer of the same number, else
         that of its conversation. Models may be placeholders: kept as they are. Of
         the stores of a conversation the one with most answers counts; its prompts
         are those of the one that tells most of them.
Missing: conversations in .pb files, which are encrypted: only their log and what was
         typed is known, without tokens. In databases: which conversation began
         another one, results of other tools than commands. The documents in brain/
         and the notes in annotations/.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from agentlake.adapters.antigravity import facts, steps, transcripts
from agentlake.adapters.sdk.contract import (
    Keyed,
    Options,
    Reader,
    Record,
    Reject,
    Stream,
    Table,
)
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import matching
from agentlake.adapters.sdk.values import posix_path
from agentlake.models.fact import Fact

SOURCE = "antigravity"
NAME = "Antigravity"
ICON = "🪐"
STORES = ("databases", "documents", "lines")
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
    """The database and the logs of each conversation, and what was typed."""
    del options
    readers: dict[str, Reader] = {
        **dict.fromkeys(matching(root, "conversations/*.db"), "sqlite"),
        **dict.fromkeys(matching(root, "history.jsonl"), "jsonl"),
    }
    for place in transcripts.PLACES:
        readers |= dict.fromkeys(matching(root, place), "json_document")
    for path in sorted(readers):
        yield Stream(path=path, key=path, reader=readers[path])


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


def explode(stream: Stream, data: bytes) -> Iterable[Keyed]:
    """The steps of a transcript."""
    del stream
    return steps.explode(data)


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A row of one of three tables, a step of a log, or something that was typed."""
    if record.stream.reader == "json_document":
        return transcripts.facts(record)
    conversation, suffix = _name(record.stream.path)
    if suffix == ".jsonl":
        return facts.typed(record)
    match record.key.partition("/")[0]:
        case "gen_metadata":
            return facts.usage(conversation, record)
        case "steps":
            return facts.step(conversation, record)
        case _:
            return facts.conversation(conversation, record)


@lru_cache(maxsize=4096)
def _name(path: str) -> tuple[str, str]:
    """The name of a stream's file in two, its suffix apart; asked for each record."""
    name = posix_path(path)
    return name.stem, name.suffix
