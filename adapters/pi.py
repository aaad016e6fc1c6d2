"""Pi (coding agent): one JSONL session per file, its entries a tree.

Where:   <agent dir>/sessions/--<cwd with dashes>--/<time>_<session id>.jsonl; the agent
         dir is ~/.pi/agent, moved by PI_CODING_AGENT_DIR; PI_CODING_AGENT_SESSION_DIR
         takes the place of sessions/, and files may lie in it without a folder. A
         place that was given to one run only (--session-dir) must be in the settings.
Seen:    real files of April and May 2026 (session version 3); versions 1 and 2, and
         the program up to 1.6.0, in descriptions and its source
Trap:    a fork begins with its parent's entries, ids and usage included, and ids are
         unique in one file only: entries are named by id and time. A version 1 file
         has no ids until a newer Pi opens it. All branches of the tree are in the
         file and were billed; the last line is where the talk is now. Compactions,
         summaries, tools and a cache kept warm have usage of their own. Adapters for
         Google wrote the whole prompt as input until March 2026.
Missing: which extension ran another pi (its session does not say so); git. Cost 0 is
         a model without price in Pi: unknown, not free.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from agentlake.adapters.families.pi import entries, rules
from agentlake.adapters.families.pi.rules import At
from agentlake.adapters.sdk.contract import Options, Record, Reject, Stream
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import files_below, folders_in, matching
from agentlake.models.fact import Fact

SOURCE = "pi"
NAME = "Pi"
ICON = "π"
STORES = ("lines",)
ROOTS = (
    Root(env="PI_CODING_AGENT_DIR", default=("~/.pi/agent",), strip="sessions"),
    Root(env="PI_CODING_AGENT_SESSION_DIR", default=()),
)
PARSER_VERSION = 2


def discover(root: str, options: Options) -> Iterator[Stream]:
    """Sessions by id; of two files of one session the second is known by its path."""
    del options
    known: set[str] = set()
    for path in sorted(_files(root)):
        key = rules.session_id(rules.stem_of(path))
        if key in known:
            key = path
        known.add(key)
        yield Stream(path=path, key=key)


def _files(root: str) -> Iterator[str]:
    """Of an agent dir its sessions, and the bare ones that very old versions wrote.

    Of a folder of sessions, those that bear the name of one.
    """
    found = matching(root, "*.jsonl")
    if folders_in(root, "sessions"):
        below = files_below(f"{root}/sessions")
        yield from (path for path in below if path.endswith(".jsonl"))
    else:
        found += matching(root, "*/*.jsonl")
    yield from (path for path in found if rules.is_session_file(Path(path).name))


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A line is the header or an entry of the session that its file is named after."""
    session = rules.session_id(rules.stem_of(record.stream.path))
    return entries.facts(record.data, At(session, record.key), entries.FACTS)
