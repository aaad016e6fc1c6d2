"""Files that list tasks or say what a task is: its folder, its parent, its models."""

from collections.abc import Iterator
from typing import Any

from agentlake.adapters.cline_family.format import ITEM, USED
from agentlake.adapters.sdk.contract import Facts, Keyed, Record
from agentlake.adapters.sdk.decode import Unreadable, encode, untyped
from agentlake.adapters.sdk.moments import moment
from agentlake.models.link import Link
from agentlake.models.session import Session
from agentlake.models.turn import Turn

BEHIND_LISTS = 1 << 20
"""Where records stand that know a folder less surely than these files do."""


def objects(data: bytes) -> list[dict[str, Any]]:
    """The objects of a file that is a list. Raises Unreadable."""
    document = untyped(data)
    if not isinstance(document, list):
        msg = "expected a JSON array"
        raise Unreadable(msg)
    return [one for one in document if isinstance(one, dict)]


def explode_metadata(task: str, data: bytes) -> Iterator[Keyed]:
    """Each change of the model."""
    document = untyped(data)
    used = document.get("model_usage") if isinstance(document, dict) else None
    for place, one in enumerate(used if isinstance(used, list) else ()):
        yield Keyed(f"model|{task}/{place}", encode(one), place)


def explode_item(task: str, data: bytes) -> Iterator[Keyed]:
    """A task by itself."""
    yield Keyed(f"item|{task}", data, 0)


def explode_listed(task: str, data: bytes) -> Iterator[Keyed]:
    """Each task of a list."""
    del task
    for place, one in enumerate(objects(data)):
        if isinstance(one.get("id"), str):
            yield Keyed(f"item|{one['id']}", encode(one), place)


def model(record: Record, place: str) -> Facts:
    """A change of the model."""
    used, rejects = USED.decode(record.data)
    task = place.partition("/")[0]
    if used.model_id:
        yield Turn(
            session_id=task,
            kind="context",
            model=used.model_id,
            began_at=moment(used.ts),
        )
    yield from rejects


def item(record: Record, task: str) -> Facts:
    """A task: where it works, and whose part it is."""
    item, rejects = ITEM.decode(record.data)
    parent = item.parent_task_id
    yield Session(
        session_id=task,
        parent_session_id=parent,
        relation="subagent" if parent else None,
        cwd=item.workspace or item.cwd_on_task_initialization,
    )
    if item.model_id:
        yield Turn(
            session_id=task,
            kind="context",
            model=item.model_id,
            began_at=moment(item.ts),
        )
    for child in item.child_ids or ():
        yield Link(session_id=child, parent_session_id=task, relation="subagent")
    yield from rejects
