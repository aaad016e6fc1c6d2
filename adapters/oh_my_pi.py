"""Oh-My-Pi (omp): Pi's format with side calls, titles in place and subagents.

Where:   ~/.omp/agent/sessions/<folder of the cwd>/<time>_<session id>.jsonl; what a
         subagent writes in a folder with its parent's name beside that,
         <time>_<session id>/<agent>.jsonl, its own subagents again below that
Seen:    the source of 18.3.4 and of January 2026; no real file
Trap:    the first line may be a title that is overwritten in place: the file is then
         read again, and nothing of it counts twice. Side calls (titles, commit
         messages) are entries of their own, `model_usage`. A subagent's file does not
         say whose it is, its folder does; that a task's result never repeats the
         usage of its subagent is not proven.
Missing: strings of over 500,000 characters are cut and images lie in a blob store;
         premium requests of a subscription are in raw only.
"""

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from agentlake.adapters.families.pi import entries, rules
from agentlake.adapters.families.pi.entries import Makes
from agentlake.adapters.families.pi.format import Entry
from agentlake.adapters.families.pi.rules import At
from agentlake.adapters.sdk.contract import Facts, Options, Record, Reject, Stream
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import files_below
from agentlake.adapters.sdk.values import named
from agentlake.models.fact import Fact
from agentlake.models.session import Session

SOURCE = "oh_my_pi"
NAME = "Oh-My-Pi"
ICON = "🥧"
STORES = ("lines",)
ROOTS = (Root(default=("~/.omp/agent",), strip="sessions"),)
PARSER_VERSION = 2


def discover(root: str, options: Options) -> Iterator[Stream]:
    """Sessions by id, subagents by their way down from one."""
    del options
    known: set[str] = set()
    for path in files_below(f"{root}/sessions"):
        if path.endswith(".jsonl"):
            key = path if (name := session_of(path)) in known else name
            known.add(key)
            yield Stream(path=path, key=key)


def session_of(path: str) -> str:
    """The session of a file, `<session>/<agent>` for a subagent's."""
    steps = re.split(r"[/\\]", path.removesuffix(".jsonl"))
    top = next(
        (n for n, step in enumerate(steps) if rules.session_id(step) != step),
        len(steps) - 1,
    )
    return "/".join([rules.session_id(steps[top]), *steps[top + 1 :]])


def parse(record: Record) -> Iterable[Fact | Reject]:
    """A line is the title, the header or an entry."""
    at = At(session_of(record.stream.path), record.key)
    return entries.facts(record.data, at, FACTS)


def _session(entry: Entry, at: At) -> Facts:
    """The header; a subagent's parent is the session in whose folder it lies."""
    parent = at.session_id.rpartition("/")[0]
    for fact in entries.session(entry, at):
        if parent and isinstance(fact, Session):
            yield replace(fact, parent_session_id=parent, relation="subagent")
        else:
            yield fact
    if named(entry.title):
        yield _title(entry, at, entry.title_source)


def _titled(entry: Entry, at: At) -> Facts:
    """A title, by the user or by a model."""
    if named(entry.title):
        set_at = rules.time_of(entry.updated_at) or entry.timestamp
        yield replace(_title(entry, at, entry.source), titled_at=set_at)
    if entry.id:
        yield from entries.node(entry, at)


def _title(entry: Entry, at: At, by: object) -> Session:
    source = "custom" if by == "user" else "ai"
    return Session(session_id=at.session_id, title=entry.title, title_source=source)


def _named(entry: Entry, at: At) -> Facts:
    """A name in the way of Pi; the title above may be newer."""
    for fact in entries.titled(entry, at):
        if isinstance(fact, Session):
            yield replace(fact, titled_at=entry.timestamp)
        else:
            yield fact


def _model_change(entry: Entry, at: At) -> Facts:
    """The model from here on, written as `provider/model`."""
    model = (entry.model or "").partition("/")[2] or entry.model or entry.model_id
    return entries.remark(entry, at, "meta", None, model=model)


FACTS: Makes = {
    **entries.FACTS,
    "session": _session,
    "session_info": _named,
    "title": _titled,
    "title_change": _titled,
    "model_usage": entries.spent,
    "model_change": _model_change,
}
