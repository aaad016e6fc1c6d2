"""The log of changes that VS Code keeps of a chat, replayed to the state it tells."""

from collections.abc import Sequence
from typing import Any

from agentlake.adapters.sdk.decode import Unreadable, untyped

_WHOLE, _SET, _PUSH, _DELETE = range(4)


def replayed(data: bytes) -> Any:
    """The state after all changes; one that leads nowhere changes nothing.

    A line that is damaged, or not yet whole, is passed over. Raises Unreadable where
    no state was ever told.
    """
    state: Any = None
    for line in data.splitlines():
        try:
            change = untyped(line) if line.strip() else None
        except Unreadable:
            continue
        if isinstance(change, dict):
            state = _changed(state, change)
    if state is None:
        msg = "a log of changes without a state to begin with"
        raise Unreadable(msg)
    return state


def _changed(state: Any, change: dict[str, Any]) -> Any:
    kind, path, value = change.get("kind"), change.get("k"), change.get("v")
    if kind == _WHOLE:
        return value
    if isinstance(path, list) and path:
        try:
            holder = _walk(state, path[:-1])
            if kind == _SET:
                holder[path[-1]] = value
            elif kind == _PUSH:
                _push(holder[path[-1]], value, change.get("i"))
            elif kind == _DELETE:
                del holder[path[-1]]
        except (LookupError, TypeError):
            pass
    return state


def _walk(state: Any, path: Sequence[Any]) -> Any:
    for step in path:
        state = state[step]
    return state


def _push(items: Any, more: Any, keep: Any) -> None:
    if not isinstance(items, list):
        msg = "only lists grow"
        raise TypeError(msg)
    if isinstance(keep, int):
        del items[max(keep, 0) :]
    items.extend(more if isinstance(more, list) else [])
