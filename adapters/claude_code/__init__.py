"""Claude Code: one JSONL transcript per session, and one per subagent.

Where:   <config>/projects/<encoded cwd>/<session id>.jsonl; subagents beside it in
         agent-<id>.jsonl (2.0) or <session id>/subagents/** (2.1), with a side file
         agent-<id>.meta.json; long outputs in <session id>/tool-results/. <config> is
         ~/.claude, moved by CLAUDE_CONFIG_DIR; 1.0.30 used ~/.config/claude; Claude
         Desktop keeps one per session below local-agent-mode-sessions.
Seen:    files of 1.0.17 - 2.1.185, the program up to 2.1.332; no public format document
Trap:    a reply is one row per content block; each repeats the usage, and early rows
         hold a placeholder. Resume, branch and side question copy rows to other
         files, ids kept. Every copy is given; core takes the largest output per id.
         The folder name does not decode to the cwd; `type` stands late in the line.
         toolUseResult, cost-state and api-request rows repeat usage: never booked;
         cost-state is kept to compare with (marts.reported_difference).
Missing: side calls (titles, web search and fetch), failed retries, the final output
         count of streams up to 2.0 and in 2.1.9 - 2.1.21: they never reach the disk.
         Desktop from the Windows store: name its folder in the settings. The database
         of 0.2, __store.db, is not read: no file of it was seen.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path

from agentlake.adapters.claude_code import rows
from agentlake.adapters.claude_code.facts import At
from agentlake.adapters.claude_code.format import IGNORED, ROW, Row
from agentlake.adapters.sdk.contract import (
    Facts,
    Health,
    Options,
    Reader,
    Record,
    Reject,
    Stream,
)
from agentlake.adapters.sdk.decode import untyped
from agentlake.adapters.sdk.drift import unknown
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import (
    files_below,
    folders_holding,
    folders_in,
    matching,
)
from agentlake.adapters.sdk.settings import said_in
from agentlake.models.fact import Fact
from agentlake.models.tool_result import Spill

SOURCE = "claude_code"
NAME = "Claude Code"
ICON = "🟠"
STORES = ("lines", "documents")
PARSER_VERSION = 2
DESKTOP = "local-agent-mode-sessions"
ROOTS = (
    Root(env="CLAUDE_CONFIG_DIR", default=("~/.claude",), strip="projects"),
    Root(default=("${XDG_CONFIG_HOME:-~/.config}/claude", "~/.config/claude")),
    Root(
        default=(
            f"~/Library/Application Support/Claude/{DESKTOP}",
            f"${{APPDATA:-~/AppData/Roaming}}/Claude/{DESKTOP}",
            f"${{XDG_CONFIG_HOME:-~/.config}}/Claude/{DESKTOP}",
        )
    ),
)

_DESKTOP_DEPTH = 8
_OLD_STORE = "__store.db"
_FILE = re.compile(
    r""".*/projects/[^/]+/(?P<session>[^/]+)
    (?: \.jsonl
    | /subagents/(?:.+/)?agent-(?P<agent>[^/]+?)(?: \.jsonl | (?P<meta>\.meta\.json))
    | /tool-results/(?P<spill>[^/]+)
    )""",
    re.VERBOSE | re.DOTALL,
)

FACTS: dict[str, Callable[[Row, At], Facts]] = {
    "assistant": rows.assistant,
    "attachment": rows.attachment,
    "cost-state": rows.cost_state,
    "progress": rows.progress,
    "system": rows.system,
    "user": rows.user,
    "ai-title": rows.title,
    "custom-title": rows.title,
    "summary": rows.title,
    "continued-in": rows.relation,
    "derived-from": rows.relation,
    "fork-context-ref": rows.relation,
    "queue-operation": rows.relation,
}
"""What makes facts of each type of row; those of `format.IGNORED` say nothing."""


def discover(root: str, options: Options) -> Iterator[Stream]:
    """Transcripts, side files of agents, moved outputs, and the prompt history.

    Workflow journals and scripts, and what a compaction leaves behind (*.replaced,
    *.compact.tmp.*), are Claude Code's own business.
    """
    del options
    folders: Iterable[str] = [root]
    if Path(root).name == DESKTOP:
        folders = folders_holding(root, "projects", _DESKTOP_DEPTH)
    streams = (stream for folder in folders for stream in _streams(folder))
    yield from sorted(streams, key=lambda stream: stream.path)


def _streams(folder: str) -> Iterator[Stream]:
    for history in matching(folder, "history.jsonl"):
        yield Stream(path=history, key=history)
    for path in files_below(f"{folder}/projects"):
        if found := _FILE.fullmatch(path.replace("\\", "/")):
            whole = found["meta"] or found["spill"]
            reader: Reader = "document" if whole else "jsonl"
            yield Stream(path=path, key=path, reader=reader)


@lru_cache(maxsize=4096)
def _place(path: str) -> tuple[str, At]:
    """What a stream of this path holds, and whose it is."""
    path = path.replace("\\", "/")
    name = path.rsplit("/", 1)[-1]
    if (found := _FILE.fullmatch(path)) is None:
        holds = "history" if name == "history.jsonl" else "rows"
        return holds, At(name.removesuffix(".jsonl"), None, name)
    holds = "spill" if found["spill"] else "meta" if found["meta"] else "rows"
    session, agent = found["session"], found["agent"]
    if session.startswith("agent-") and not agent:
        agent = session.removeprefix("agent-")
    return holds, At(session, agent, name)


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A line is one row: of a message, about the session, or of no interest."""
    holds, place = _place(record.stream.path)
    match holds:
        case "rows":
            return _of_row(record, place)
        case "meta":
            return rows.side_file(record.data, place)
        case "spill":
            text = record.data.decode("utf-8", "replace")
            return [Spill(session_id=place.session_id, ref=place.key, text=text)]
        case _:  # the history repeats prompts of the transcripts: kept in raw only
            return ()


def _of_row(record: Record, place: At) -> Iterable[Fact | Reject]:
    row, rejects = ROW.decode(record.data)
    if row.type is None:  # damaged: what it was is in the Reject
        return rejects
    make = FACTS.get(row.type)
    if make is None:
        return unknown("row", row.type, IGNORED)
    if row.message and row.message.spread is not None:
        row = rows.rejoined(row, untyped(record.data)["message"])
    at = At(
        row.session_id or place.session_id, row.agent_id or place.agent_id, record.key
    )
    facts = make(row, at)
    if rejects or row.session_kind:  # both are rare
        return chain(rejects, facts, rows.handed_over(row, at))
    return facts


def health(root: str) -> Health:
    """Transcripts are deleted after 30 days, or what cleanupPeriodDays says."""
    warnings: tuple[str, ...] = ()
    if any(matching(root, _OLD_STORE)):
        warnings = (
            f"{_OLD_STORE} is the history of a version 0.2, whose format nobody has"
            " described: it is not read. Keep the file",
        )
    if not folders_in(root, "projects"):
        return Health(warnings=warnings)
    days = said_in(Path(root, "settings.json"), "cleanupPeriodDays")
    is_told = isinstance(days, int | float) and not isinstance(days, bool)
    return Health(deleted_after_days=int(days) if is_told else 30, warnings=warnings)
