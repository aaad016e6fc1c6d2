"""The log of changes that VS Code keeps of a chat, replayed to the state it tells.

A change names its place by steps, and a step into a list is a number. So a change that
is lost may shift what later ones mean: what can no longer be placed changes nothing,
and is counted, until the log says the whole state, or the length of the list, again.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from agentlake.adapters.sdk.decode import Unreadable, untyped
from agentlake.adapters.sdk.splice import spans

_WHOLE, _SET, _PUSH, _DELETE = range(4)
_HEAD = re.compile(
    r'\s*\{\s*"kind"\s*:\s*(?P<kind>\d)\s*(?:,\s*"k"\s*:\s*(?P<k>\[[^\[\]{}]*\]))?'
)


class Replay:
    """A log as far as it was replayed. Raises Unreadable if no state was ever told."""

    def __init__(self, data: bytes) -> None:
        self.state: Any = None
        self.damaged: list[bytes] = []
        """Lines, or parts of them, that are no changes."""
        self._is_odd = False
        """Whether a change is none that is known: it may have been the state."""
        self.displaced = 0
        """Changes that were left out: where they belong is not known."""
        self._lost: set[tuple[Any, ...]] = set()
        """Places below which nothing is known; () is everywhere."""
        self._shifted: dict[tuple[Any, ...], int] = {}
        """Lists, and from which place on it is not known what stands where."""
        *lines, last = data.split(b"\n")
        for line in lines:
            self._line(line)
        for change in _whole(last):  # it may not be written to its end
            self._change(change)
        if self.state is None:
            if not self._is_odd:
                msg = "a log of changes without a state to begin with"
                raise Unreadable(msg)
            self.damaged.append(data)
            self.state = {}

    def _line(self, line: bytes) -> None:
        if not line.strip(b"\0 \t\r"):
            return
        try:
            found = untyped(line)
        except Unreadable:
            self._damaged(line)
            return
        if isinstance(found, dict):
            self._change(found)

    def _damaged(self, line: bytes) -> None:
        """Control characters do not hide what a line changes; others may share it."""
        try:
            change = json.loads(line.decode("utf-8", "replace"), strict=False)
        except (ValueError, RecursionError):
            change = None
        if isinstance(change, dict):
            self.damaged.append(line)
            self._change(change)
            return
        for part in spans(line):
            if part.is_whole:
                self._change(untyped(part.data))
            else:
                self.damaged.append(part.data)
                self._lose(part.data)

    def _change(self, change: dict[str, Any]) -> None:
        kind, path, value = change.get("kind"), change.get("k"), change.get("v")
        if kind == _WHOLE and isinstance(value, dict):
            self.state = value
            self._lost.clear()
            self._shifted.clear()
        elif isinstance(path, list) and path and all(map(_is_step, path)):
            keep = change.get("i") if kind == _PUSH else None
            if not self._is_known(path):
                self.displaced += 1
                return
            try:
                self._apply(kind, path, value, keep)
            except (LookupError, TypeError):
                return  # it leads nowhere, and changes nothing
        else:
            self._is_odd = True

    def _apply(self, kind: Any, path: list[Any], value: Any, keep: Any) -> None:
        holder = self.state
        for step in path[:-1]:
            holder = holder[step]
        place = tuple(path)
        if kind == _SET:
            holder[path[-1]] = value
            self._forget(place)
        elif kind == _PUSH:
            self._push(place, holder[path[-1]], value, keep)
        elif kind == _DELETE:
            del holder[path[-1]]
            if place[:-1] in self._shifted:
                self._shifted[place[:-1]] -= 1

    def _push(self, place: tuple[Any, ...], items: Any, more: Any, keep: Any) -> None:
        if not isinstance(items, list):
            msg = "only lists grow"
            raise TypeError(msg)
        if isinstance(keep, int) and place in self._shifted:
            if keep > len(items):  # so many are missing, where some were lost
                at = self._shifted.pop(place)
                items[at:at] = [None] * (keep - len(items))
            elif keep in (self._shifted[place], len(items)):
                del self._shifted[place]
        if isinstance(keep, int) and place not in self._shifted:
            del items[max(keep, 0) :]
        items.extend(more if isinstance(more, list) else [])

    def _is_known(self, path: Sequence[Any]) -> bool:
        if () in self._lost and any(isinstance(step, int) for step in path):
            return False
        for depth in range(1, len(path)):
            above, step = tuple(path[:depth]), path[depth]
            if above in self._lost:
                return False
            if isinstance(step, int) and step >= self._shifted.get(above, step + 1):
                return False
        return True

    def _forget(self, place: tuple[Any, ...]) -> None:
        """What is set as a whole is known again."""
        here = len(place)
        self._lost = {one for one in self._lost if one[:here] != place or not one}
        kept = self._shifted.items()
        self._shifted = {one: at for one, at in kept if one[:here] != place}

    def _lose(self, line: bytes) -> None:
        """Mark what a change may have changed of which little more can be read."""
        head = _HEAD.match(line.decode("utf-8", "replace"))
        kind = int(head["kind"]) if head else _WHOLE
        try:
            path = json.loads(head["k"]) if head and head["k"] else []
        except ValueError:
            path = []
        if not path or kind == _WHOLE or not self._is_known(path):
            self._lost.add(())
        elif kind == _SET:
            self._lost.add(tuple(path))
        elif kind == _PUSH:
            place = tuple(path)
            length = len(self._at(path))
            self._shifted[place] = min(self._shifted.get(place, length), length)
        else:
            self._change({"kind": kind, "k": path})

    def _at(self, path: Sequence[Any]) -> Sequence[Any]:
        items = self.state
        try:
            for step in path:
                items = items[step]
        except (LookupError, TypeError):
            return []
        return items if isinstance(items, list) else []


def _is_step(step: object) -> bool:
    return isinstance(step, str | int) and not isinstance(step, bool)


def _whole(line: bytes) -> Iterator[dict[str, Any]]:
    for part in spans(line.strip(b"\0 \t\r")):
        if part.is_whole:
            change = untyped(part.data)
            if isinstance(change, dict):
                yield change
