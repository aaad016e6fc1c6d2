"""What both programs keep beside a wire: the state of a session, and their index."""

import tomllib
from pathlib import Path

import msgspec

from agentlake.adapters.sdk.contract import Facts
from agentlake.adapters.sdk.decode import Decoder
from agentlake.adapters.sdk.scan import beside
from agentlake.models.link import Link
from agentlake.models.session import Session
from agentlake.models.turn import Turn

_FORK = "Fork: "
"""How Kimi CLI begins the title of a fork, its only sign."""


class State(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A session; Kimi CLI has a custom title only."""

    title: str | None = None
    custom_title: str | None = msgspec.field(default=None, name="custom_title")
    forked_from: str | None = None
    work_dir: str | None = None


class Entry(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One line of the index; a deletion has no folder."""

    session_id: str | None = None
    work_dir: str | None = None


STATE, ENTRY, MODELS = Decoder(State), Decoder(Entry), Decoder(dict[str, str])


def state(session_id: str, data: bytes) -> Facts:
    """The title, the folder and the origin of a session."""
    now, rejects = STATE.decode(data)
    title = now.custom_title or now.title or None
    is_fork = bool(now.forked_from or (title or "").startswith(_FORK))
    yield Session(
        session_id=session_id,
        parent_session_id=now.forked_from,
        relation="fork" if is_fork else None,
        title=title,
        title_source="custom" if title else None,
        cwd=now.work_dir,
    )
    if now.forked_from:
        yield Link(
            session_id=session_id,
            parent_session_id=now.forked_from,
            relation="fork",
        )
    yield from rejects


def models_of(config: Path) -> dict[str, str]:
    """The models that a configuration gives names to; its keys and rules stay there."""
    try:
        said = tomllib.loads((beside(config) or b"").decode())
    except (ValueError, RecursionError):
        return {}
    models = said.get("models")
    named = models.items() if isinstance(models, dict) else ()
    return {
        alias: one["model"]
        for alias, one in named
        if isinstance(one, dict) and isinstance(one.get("model"), str)
    }


def aliases(session_id: str, data: bytes) -> Facts:
    """Which models the names meant when the session was written."""
    models, rejects = MODELS.decode(data)
    for alias, model in models.items():
        yield Turn(session_id=session_id, turn_id=alias, kind="context", model=model)
    yield from rejects


def entry(data: bytes) -> Facts:
    """Where a session worked."""
    found, rejects = ENTRY.decode(data)
    if found.session_id and found.work_dir:
        yield Session(session_id=found.session_id, cwd=found.work_dir)
    yield from rejects
