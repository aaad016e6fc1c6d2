"""Codex' own list of its threads, which only adds to what the rollouts say.

It is made from them and may be remade, and its rows outlive them: its titles are the
last to be asked, a row without a rollout is no session, and of what it counts nothing
is usage. Its totals are compared with ours.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from agentlake.adapters.sdk.contract import Facts, Record, Reject, Table
from agentlake.adapters.sdk.decode import Decoder
from agentlake.adapters.sdk.scan import matching
from agentlake.adapters.sdk.values import without_login
from agentlake.models.link import Link
from agentlake.models.reported_total import ReportedTotal
from agentlake.models.session import Session

TABLES = (
    Table(
        name="threads",
        key=("id",),
        order="rowid * 2",
        # what is repeated from the rollout, or changes at every write to it
        without=(
            "first_user_message",
            "has_user_event",
            "preview",
            "recency_at",
            "recency_at_ms",
            "rollout_path",
            "sandbox_policy",
            "updated_at",
            "updated_at_ms",
        ),
    ),
    Table(
        name="thread_spawn_edges",
        key=("child_thread_id",),
        order="rowid * 2 + 1",
    ),
)
"""The threads and who began them; samples of usage repeat the rollouts' own."""

STATE_DATABASE = "state_database"

STORE = "database"
"""The source of these titles, and what tells these facts from a rollout's header."""

_NAME = re.compile(r"state_(\d+)\.sqlite")


class Thread(msgspec.Struct, frozen=True, gc=False):
    """A row of `threads`."""

    id: str | None = None
    name: str | None = None
    title: str | None = None
    cwd: str | None = None
    git_sha: str | None = None
    git_branch: str | None = None
    git_origin_url: str | None = None
    parent_thread_id: str | None = None
    tokens_used: int | None = None
    """Input and output so far; a fork's begin with those of its parent."""


class Edge(msgspec.Struct, frozen=True, gc=False):
    """A row of `thread_spawn_edges`."""

    parent_thread_id: str | None = None
    child_thread_id: str | None = None


_thread, _edge = Decoder(Thread), Decoder(Edge)


def newest(root: str) -> str | None:
    """The database of the highest generation; older ones are what it was made from."""
    found = {
        int(matched[1]): path
        for path in matching(root, "state_*.sqlite")
        if (matched := _NAME.fullmatch(Path(path).name))
    }
    return found[max(found)] if found else None


def facts(record: Record) -> Facts:
    """A row of one of the two tables."""
    rejects: Iterable[Reject]
    if record.key.startswith("threads/"):
        row, rejects = _thread.decode(record.data)
        if row.id:
            yield _session(row)
            yield from _link(row.id, row.parent_thread_id)
            if row.tokens_used:
                yield ReportedTotal(
                    session_id=row.id, counter=STATE_DATABASE, tokens=row.tokens_used
                )
    else:
        edge, rejects = _edge.decode(record.data)
        yield from _link(edge.child_thread_id, edge.parent_thread_id)
    yield from rejects


def _session(row: Thread) -> Session:
    return Session(
        session_id=row.id or "",
        title=row.name or row.title or None,
        title_source=STORE,
        cwd=row.cwd or None,
        git_commit=row.git_sha or None,
        git_branch=row.git_branch or None,
        repo_url=without_login(row.git_origin_url) or None,
    )


def _link(child: str | None, parent: str | None) -> Facts:
    if child and parent:
        yield Link(session_id=child, parent_session_id=parent, relation="subagent")
