"""What to load now: a scan of the disk, compared with the last successful load.

One decision, shared by the Dagster sensor and `agentlake watch`. It is level-triggered:
whatever went wrong on the way (a failed load, a kill, a lost event), the disk still
differs from the baseline, and is loaded next. Nothing here asks a clock or a disk.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import reduce
from heapq import nlargest
from operator import xor

import msgspec

from agentlake.pipelines import timing
from agentlake.pipelines.ingest.scanner import Snapshot, StreamState

MOST_LISTED = 100
"""Streams that the baseline of a full load lists; it has the others only together."""
_TOO_MANY = 2 * MOST_LISTED
_SETTLED_NS = int((timing.SETTLED_AFTER_S + 60) * 1e9)


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

    fingerprint: int
    """0: it could not be read."""
    at: float
    tries: int = 0
    """How often in a row it could not be read."""
    is_half: bool = False
    """Whether it ended in the middle of a line, which is taken after a while."""


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """A source as its last successful load found it: all that is known of the past.

    Streams written to lately are listed one by one. `others` is the fingerprint of all
    others together; none of them had been written to after `since_ns`.
    """

    parser_version: int
    at: float
    others: int
    since_ns: int
    listed: dict[int, Loaded] = {}
    unread: int = 0
    """How many loads in a row left more unread than can be listed."""

    @property
    def fingerprint(self) -> int:
        """What `Snapshot.fingerprint` is as long as nothing changed."""
        return reduce(
            xor, (one.fingerprint for one in self.listed.values()), self.others
        )

    def encoded(self) -> str:
        """It as text."""
        return msgspec.json.encode(self).decode()

    @staticmethod
    def decoded(text: object) -> "Baseline | None":
        """It from text; None for what is none, or was written by another version."""
        try:
            return msgspec.json.decode(str(text), type=Baseline)
        except msgspec.MsgspecError:
            return None


class Asked(msgspec.Struct, frozen=True, array_like=True):
    """A load that was asked for; so one that fails is not asked for again at once."""

    of: float
    """`Baseline.at` at that time: another one means that a load came through."""
    fingerprint: int
    tries: int
    at: float


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What to load now, and when to ask again because of what was put off."""

    load: dict[str, frozenset[int] | None]
    """The streams of each source, by id; None for all of them."""
    wait_s: float | None
    """Something that was put off is due in so many seconds; None: nothing was."""


def decide(
    snapshots: Iterable[Snapshot],
    baselines: Mapping[str, Baseline | None],
    asked: Mapping[str, Asked],
    now: float,
) -> Decision:
    """Which sources, and which of their streams, to load now."""
    load: dict[str, frozenset[int] | None] = {}
    waits: list[float] = []
    for snapshot in snapshots:
        before = baselines.get(snapshot.source)
        changed = changes(snapshot, before)
        if changed is None or before is None:
            pause = _full_pause(before, now)
            due, put_off = None, [pause] if pause > 0 else []
        else:
            pauses = {id_: _pause(snapshot, before, id_, now) for id_ in changed}
            due = frozenset(id_ for id_, pause in pauses.items() if pause <= 0)
            put_off = [pause for pause in pauses.values() if pause > 0]
        if not due and (put_off or due is not None):
            waits += put_off
            continue
        held = _held(snapshot, before, asked.get(snapshot.source), now)
        if held > 0:
            waits.append(held)
        else:
            load[snapshot.source] = due
            waits += put_off
    return Decision(load=load, wait_s=min(waits, default=None))


def changes(snapshot: Snapshot, before: Baseline | None) -> frozenset[int] | None:
    """The streams that differ from the baseline; None where only a full load can tell.

    They are named only where all others are known to be as they were.
    """
    if (
        before is None
        or before.parser_version != snapshot.parser_version
        or before.unread
        or not before.listed.keys() <= snapshot.streams.keys()
    ):
        return None
    changed = {
        id_
        for id_, known in before.listed.items()
        if _differs(known, snapshot.streams[id_])
    }
    if snapshot.fingerprint != before.fingerprint:
        if len(before.listed) > _TOO_MANY:
            return None
        new = {
            id_
            for id_, state in snapshot.streams.items()
            if state.mtime_ns > before.since_ns and id_ not in before.listed
        }
        others = (snapshot.streams[id_].fingerprint for id_ in (*before.listed, *new))
        if reduce(xor, others, snapshot.fingerprint) != before.others:
            return None
        changed |= new
    return frozenset(changed)


def _differs(known: Loaded, state: StreamState) -> bool:
    return known.fingerprint != state.fingerprint or known.is_half


def _pause(snapshot: Snapshot, before: Baseline, id_: int, now: float) -> float:
    """How long the stream has to wait."""
    known, state = before.listed.get(id_), snapshot.streams[id_]
    if known is None:
        return 0.0
    if known.tries:
        return known.at + delay(known.tries, timing.UNREAD_S) - now
    if known.fingerprint == state.fingerprint:  # its half line
        return (state.mtime_ns + _SETTLED_NS) / 1e9 - now
    return known.at + interval(state.size) - now


def _full_pause(before: Baseline | None, now: float) -> float:
    if before is None:
        return 0.0
    if before.unread:
        return before.at + delay(before.unread, timing.UNREAD_S) - now
    return before.at + timing.FULL_EVERY_S - now


def _held(
    snapshot: Snapshot, before: Baseline | None, asked: Asked | None, now: float
) -> float:
    """How long to wait, because the last load that was asked for came to nothing.

    A disk that changed since is tried again within a minute.
    """
    if asked is None or not came_to_nothing(asked, before):
        return 0.0
    is_same = asked.fingerprint == snapshot.fingerprint
    most = timing.RETRY_S if is_same else timing.AFTER_CHANGE_S
    return asked.at + delay(asked.tries, most) - now


def came_to_nothing(asked: Asked, before: Baseline | None) -> bool:
    """Whether no load succeeded since that one was asked for."""
    return asked.of == (before.at if before else 0.0)


def ask(
    snapshot: Snapshot, before: Baseline | None, asked: Asked | None, now: float
) -> Asked:
    """Note that a load is asked for."""
    again = asked is not None and came_to_nothing(asked, before)
    tries = asked.tries + 1 if asked is not None and again else 1
    return Asked(before.at if before else 0.0, snapshot.fingerprint, tries, now)


def baseline_after(
    snapshot: Snapshot,
    before: Baseline | None,
    chosen: Collection[int] | None,
    now: float,
    *,
    unread: Collection[int] = (),
    half: Collection[int] = (),
) -> Baseline:
    """The baseline after a load of these streams (None: all).

    `snapshot` is from before the load, and `now` its time: what was written meanwhile
    differs from it, and is loaded next time. `unread` could not be read;
    `half` end in the middle of a line.
    """
    old = before.listed if before else {}
    tries = 0
    if chosen is None or before is None:
        if len(unread) > MOST_LISTED:
            unread, tries = set(), (before.unread if before else 0) + 1
        ids, since_ns = _listed(snapshot, {*unread, *half}, now)
        listed = {}
        others = reduce(
            xor,
            (snapshot.streams[id_].fingerprint for id_ in ids),
            snapshot.fingerprint,
        )
    else:
        ids, since_ns, others = set(chosen), before.since_ns, before.others
        listed = dict(old)
    for id_ in ids & snapshot.streams.keys():
        if id_ in unread:
            known = old.get(id_)
            listed[id_] = Loaded(0, now, (known.tries if known else 0) + 1)
        else:
            fingerprint = snapshot.streams[id_].fingerprint
            listed[id_] = Loaded(fingerprint, now, is_half=id_ in half)
    return Baseline(
        parser_version=snapshot.parser_version,
        at=now,
        others=others,
        since_ns=since_ns,
        listed=listed,
        unread=tries,
    )


def _listed(
    snapshot: Snapshot, also: Collection[int], now: float
) -> tuple[set[int], int]:
    """What the baseline of a full load lists, and since when all others are quiet."""
    newest = nlargest(
        MOST_LISTED + 1, snapshot.streams.items(), key=lambda item: item[1].mtime_ns
    )
    since_ns = int((now - timing.FROZEN_AFTER_S) * 1e9)
    if len(newest) > MOST_LISTED:
        since_ns = max(since_ns, newest[-1][1].mtime_ns)
    ids = {id_ for id_, state in newest if state.mtime_ns > since_ns}
    return ids | (set(also) & snapshot.streams.keys()), since_ns
