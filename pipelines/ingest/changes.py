"""What to load now: the disk as it looks, compared with what was last recorded.

One decision, shared by the Dagster sensor and `agentlake watch`. It is level-triggered:
whatever went wrong on the way (a failed load, a kill, a lost event), the disk still
differs from the record, and is asked for again. Nothing here asks a clock or a disk.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import reduce
from heapq import nlargest
from operator import xor

import msgspec

from agentlake.pipelines.ingest.disk import FROZEN_AFTER_S, Look, Seen
from agentlake.pipelines.ingest.plan import SETTLED_AFTER_S

MOST_LISTED = 100
"""Streams that a record of a whole load lists; it has the others only together."""
_TOO_MANY = 2 * MOST_LISTED
WHOLE_EVERY_S = 5.0
RETRY_S = 600.0
"""A load that fails again and again on the same disk is tried this often."""
_ON_CHANGE_S, _UNREAD_S = 60.0, 3600.0
_SETTLED_NS = int((SETTLED_AFTER_S + 60) * 1e9)


def interval(size: int) -> float:
    """How many seconds lie between two loads of a stream of so many bytes.

    A big session that is written all the time is not loaded every second.
    """
    return min(60.0, max(0.5, size * 30.0 / 200e6))


def delay(tries: int, most: float) -> float:
    """How many seconds to wait after so many tries that came to nothing."""
    return float(min(most, 10.0 * 2 ** (min(tries, 20) - 1)))


class Loaded(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """One stream as it looked when it was last loaded."""

    looks: int
    """0: it could not be read."""
    at: float
    tries: int = 0
    """How often in a row it could not be read."""
    is_half: bool = False
    """Whether it ended in the middle of a line, which is taken after a while."""


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """What a successful load says of its source: all that is known of the past.

    Streams written to lately are listed one by one. `rest` is the `looks` of all
    others together; none of them had been written to after `since_ns`.
    """

    parser_version: int
    at: float
    rest: int
    since_ns: int
    listed: dict[int, Loaded] = {}
    unread: int = 0
    """How many loads in a row left more unread than can be listed."""

    @property
    def whole(self) -> int:
        """What `Look.whole` is as long as nothing changed."""
        return reduce(xor, (one.looks for one in self.listed.values()), self.rest)

    def encoded(self) -> str:
        """It as text."""
        return msgspec.json.encode(self).decode()

    @staticmethod
    def decoded(text: object) -> "Recorded | None":
        """It from text; None for what is none, or was written by another version."""
        try:
            return msgspec.json.decode(str(text), type=Recorded)
        except msgspec.MsgspecError:
            return None


class Asked(msgspec.Struct, frozen=True, array_like=True):
    """A load that was asked for; so one that fails is not asked for again at once."""

    of: float
    """`Recorded.at` at that time: another one means that a load came through."""
    whole: int
    tries: int
    at: float


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What to load now, and when to ask again because of what was put off."""

    load: dict[str, frozenset[int] | None]
    """The streams of each source, by name; None for all of them."""
    wait_s: float | None
    """Something that was put off is due in so many seconds; None: nothing was."""


def decide(
    looks: Iterable[Look],
    recorded: Mapping[str, Recorded | None],
    asked: Mapping[str, Asked],
    now: float,
) -> Decision:
    """Which sources, and which of their streams, to load now."""
    load: dict[str, frozenset[int] | None] = {}
    waits: list[float] = []
    for look in looks:
        before = recorded.get(look.source)
        changed = changes(look, before)
        if changed is None or before is None:
            pause = _whole_pause(before, now)
            due, put_off = None, [pause] if pause > 0 else []
        else:
            pauses = {name: _pause(look, before, name, now) for name in changed}
            due = frozenset(name for name, pause in pauses.items() if pause <= 0)
            put_off = [pause for pause in pauses.values() if pause > 0]
        if not due and (put_off or due is not None):
            waits += put_off
            continue
        held = _held(look, before, asked.get(look.source), now)
        if held > 0:
            waits.append(held)
        else:
            load[look.source] = due
            waits += put_off
    return Decision(load=load, wait_s=min(waits, default=None))


def changes(look: Look, before: Recorded | None) -> frozenset[int] | None:
    """The streams that differ from the record; None where only a whole load can tell.

    They are named only where everything else is known to be as recorded.
    """
    if (
        before is None
        or before.parser_version != look.parser_version
        or before.unread
        or not before.listed.keys() <= look.streams.keys()
    ):
        return None
    changed = {
        name
        for name, known in before.listed.items()
        if _differs(known, look.streams[name])
    }
    if look.whole != before.whole:
        if len(before.listed) > _TOO_MANY:
            return None
        new = {
            name
            for name, seen in look.streams.items()
            if seen.mtime_ns > before.since_ns and name not in before.listed
        }
        others = (look.streams[name].looks for name in (*before.listed, *new))
        if reduce(xor, others, look.whole) != before.rest:
            return None
        changed |= new
    return frozenset(changed)


def _differs(known: Loaded, seen: Seen) -> bool:
    return known.looks != seen.looks or known.is_half


def _pause(look: Look, before: Recorded, name: int, now: float) -> float:
    """How long the stream has to wait."""
    known, seen = before.listed.get(name), look.streams[name]
    if known is None:
        return 0.0
    if known.tries:
        return known.at + delay(known.tries, _UNREAD_S) - now
    if known.looks == seen.looks:  # its half line
        return (seen.mtime_ns + _SETTLED_NS) / 1e9 - now
    return known.at + interval(seen.size) - now


def _whole_pause(before: Recorded | None, now: float) -> float:
    if before is None:
        return 0.0
    if before.unread:
        return before.at + delay(before.unread, _UNREAD_S) - now
    return before.at + WHOLE_EVERY_S - now


def _held(
    look: Look, before: Recorded | None, asked: Asked | None, now: float
) -> float:
    """How long to wait, because the last load that was asked for came to nothing.

    A disk that changed since is tried again within a minute.
    """
    if asked is None or not came_to_nothing(asked, before):
        return 0.0
    most = RETRY_S if asked.whole == look.whole else _ON_CHANGE_S
    return asked.at + delay(asked.tries, most) - now


def came_to_nothing(asked: Asked, before: Recorded | None) -> bool:
    """Whether nothing was recorded since that load was asked for."""
    return asked.of == (before.at if before else 0.0)


def ask(look: Look, before: Recorded | None, asked: Asked | None, now: float) -> Asked:
    """Note that a load is asked for."""
    again = asked is not None and came_to_nothing(asked, before)
    tries = asked.tries + 1 if asked is not None and again else 1
    return Asked(before.at if before else 0.0, look.whole, tries, now)


def record(
    look: Look,
    before: Recorded | None,
    chosen: Collection[int] | None,
    now: float,
    *,
    unread: Collection[int] = (),
    half: Collection[int] = (),
) -> Recorded:
    """What to record after these streams (None: all) were loaded.

    `look` is from before the load, and `now` its time: what was written meanwhile
    differs from the record, and is loaded next time. `unread` could not be read;
    `half` end in the middle of a line.
    """
    old = before.listed if before else {}
    tries = 0
    if chosen is None or before is None:
        if len(unread) > MOST_LISTED:
            unread, tries = set(), (before.unread if before else 0) + 1
        names, since_ns = _listed(look, {*unread, *half}, now)
        listed = {}
        rest = reduce(xor, (look.streams[name].looks for name in names), look.whole)
    else:
        names, since_ns, rest = set(chosen), before.since_ns, before.rest
        listed = dict(old)
    for name in names & look.streams.keys():
        if name in unread:
            known = old.get(name)
            listed[name] = Loaded(0, now, (known.tries if known else 0) + 1)
        else:
            looks = look.streams[name].looks
            listed[name] = Loaded(looks, now, is_half=name in half)
    return Recorded(
        parser_version=look.parser_version,
        at=now,
        rest=rest,
        since_ns=since_ns,
        listed=listed,
        unread=tries,
    )


def _listed(look: Look, also: Collection[int], now: float) -> tuple[set[int], int]:
    """What a whole record lists, and since when all others were left alone."""
    newest = nlargest(
        MOST_LISTED + 1, look.streams.items(), key=lambda item: item[1].mtime_ns
    )
    since_ns = int((now - FROZEN_AFTER_S) * 1e9)
    if len(newest) > MOST_LISTED:
        since_ns = max(since_ns, newest[-1][1].mtime_ns)
    names = {name for name, seen in newest if seen.mtime_ns > since_ns}
    return names | (set(also) & look.streams.keys()), since_ns
