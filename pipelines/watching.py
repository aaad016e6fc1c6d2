"""Load whatever agents write, as they write it: the loop behind `agentlake watch`.

What changed is asked of the disk, never of events: those only say when to look. So a
lost event costs seconds and no line. The warehouse is open while something is loaded
and at no other time. An error is said and tried again; it never ends the loop.
"""

import os
import time
from collections.abc import (
    Callable,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import closing
from pathlib import Path
from threading import Event

import msgspec
import watchfiles
from watchfiles import Change

from agentlake.adapters.sdk.contract import Stream
from agentlake.adapters.sdk.scan import leads_out
from agentlake.errors import SourceError, UserError
from agentlake.pipelines.ingest.changes import Asked, Recorded, ask, decide, record
from agentlake.pipelines.ingest.disk import Disk, Look, name_of
from agentlake.pipelines.ingest.loader import OnProgress
from agentlake.pipelines.ingest.plan import Selects
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.sync import OnRefresh, SyncResult, plans, sync_plans

POLL_S = 1.0
"""How often the disk is looked at where nothing tells that it changed."""
LOOK_EVERY_S = 10.0
"""And where something does, in case that it did not."""
WAIT_S = 10.0
"""How long a load waits for another program to let go of the warehouse."""
_PLACES_EVERY_S = 2.0
_BURST_MS, _QUIET_MS, _WAKE_MS = 200, 50, 1000

# Other machines write there, and no event tells of it.
_SILENT = frozenset(
    {"9p", "afs", "ceph", "cifs", "drvfs", "fuse.sshfs", "glusterfs", "lustre", "nfs"}
    | {"nfs4", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs"}
)


class Loads(msgspec.Struct, frozen=True, kw_only=True):
    """One load that was done."""

    result: SyncResult
    seconds: float
    lag_s: float | None
    """From the last write of the newest stream to the end of the load."""


OnLoad = Callable[[Loads], None]
OnError = Callable[[Collection[str], Exception], None]
OnSilent = Callable[[Sequence[Path], str], None]


class Watching:
    """What one `agentlake watch` knows of the disk and of its own loads."""

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        *,
        on_load: OnLoad,
        on_error: OnError,
        on_progress: OnProgress = lambda _: None,
        on_refresh: OnRefresh = lambda: None,
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._on_load = on_load
        self._on_error = on_error
        self._on_progress = on_progress
        self._on_refresh = on_refresh
        self._disks: dict[str, Disk] = {}
        self._recorded: dict[str, Recorded | None] = {}
        self._asked: dict[str, Asked] = {}
        self._told: dict[str, tuple[str, ...]] = {}
        """What was said to be in the way of a look."""

    def places(self) -> list[Path]:
        """Look again where sources are to be found; every place that exists now."""
        found = plans(self._settings, self._environ)
        for plan in found:
            known = self._disks.get(plan.adapter.SOURCE)
            if known is None or known.plan != plan:
                self._disks[plan.adapter.SOURCE] = Disk(plan)
        return [root for plan in found for root in plan.roots]

    def concerns(self, path: str, *, is_new: bool) -> bool:
        """Whether a change there is worth a look."""
        return any(one.concerns(path, is_new=is_new) for one in self._disks.values())

    def turn(self, touched: Collection[str] = ()) -> float | None:
        """Look, and load what changed; in how many seconds something else is due."""
        now = time.time()
        looks = {look.source: look for look in self._looks(now, touched)}
        decision = decide(looks.values(), self._recorded, self._asked, now)
        if decision.load:
            self._load_apart(looks, decision.load, now)
            return 0.0  # what was written meanwhile
        return decision.wait_s

    def _looks(self, now: float, touched: Collection[str]) -> Iterator[Look]:
        for source, disk in self._disks.items():
            look = disk.look(now, touched)
            if look.in_the_way and look.in_the_way != self._told.get(source):
                self._on_error([source], SourceError("; ".join(look.in_the_way)))
            self._told[source] = look.in_the_way
            yield look

    def _load_apart(
        self,
        looks: Mapping[str, Look],
        chosen: Mapping[str, frozenset[int] | None],
        now: float,
    ) -> None:
        """Load these sources together; one by one if that fails for one of them."""
        for source in chosen:
            self._asked[source] = ask(
                looks[source],
                self._recorded.get(source),
                self._asked.get(source),
                now,
            )
        try:
            self._load(looks, chosen, now)
        except UserError as error:  # the same for all of them
            self._on_error(list(chosen), error)
        except Exception as error:  # noqa: BLE001 - it is said, and tried again
            if len(chosen) == 1:
                self._on_error(list(chosen), error)
                return
            for source, names in chosen.items():
                self._load_apart(looks, {source: names}, now)

    def _load(
        self,
        looks: Mapping[str, Look],
        chosen: Mapping[str, frozenset[int] | None],
        now: float,
    ) -> None:
        wanted = [names for names in chosen.values() if names is not None]
        selects: Selects | None = None
        if len(wanted) == len(chosen):
            selects = _selects(chosen, frozenset().union(*wanted))
        else:
            chosen = dict.fromkeys(chosen)
        began = time.monotonic()
        result = sync_plans(
            self._settings,
            [self._disks[source].plan for source in chosen],
            selects=selects,
            wait_s=WAIT_S,
            on_progress=self._on_progress,
            on_refresh=self._on_refresh,
        )
        for source, names in chosen.items():
            one, disk = result.report.sources[source], self._disks[source]
            if one.problem is not None:
                self._on_error([source], SourceError(one.problem))
                continue
            self._recorded[source] = record(
                looks[source],
                self._recorded.get(source),
                names,
                now,
                unread=disk.names([path for path, _ in one.deferred]),
                half=disk.names(one.waiting),
            )
        read = [
            seen.mtime_ns / 1e9
            for source, names in chosen.items()
            for name in names or ()
            if (seen := looks[source].streams.get(name))
        ]
        lag = max(0.0, time.time() - max(read)) if read else None
        seconds = time.monotonic() - began
        self._on_load(Loads(result=result, seconds=seconds, lag_s=lag))


def _selects(sources: Collection[str], names: frozenset[int]) -> Selects:
    def selects(stream: Stream) -> bool:
        return any(name_of(source, stream.key) in names for source in sources)

    return selects


def watch(
    watching: Watching,
    stop: Event,
    *,
    poll: bool = False,
    on_silent: OnSilent = lambda _places, _why: None,
) -> None:
    """Look and load until `stop` is set.

    `poll` does without events. `on_silent` is told which places are polled, and why.
    """
    told: set[Path] = set()
    while not stop.is_set():
        roots = watching.places()
        silent = {root for root in roots if poll or is_silent(root)}
        if silent - told and not poll:
            on_silent(sorted(silent - told), "nothing tells of changes there")
        # Who waits for events follows links, and would wait for those of all there is.
        endless = {root for root in roots if leads_out(str(root))} - silent
        if endless - told:
            on_silent(sorted(endless - told), "a link in it leads out of it")
        silent |= endless
        told |= silent
        # What is written beside a database counts as well.
        loud = sorted(
            {it if it.is_dir() else it.parent for it in roots if it not in silent}
        )
        every = POLL_S if silent else LOOK_EVERY_S
        try:
            with closing(_changes(loud, stop)) as changes:
                _follow(watching, roots, changes, stop, every)
        except FileNotFoundError:  # it went away just now
            stop.wait(_PLACES_EVERY_S)
        except (OSError, RuntimeError) as error:
            poll = True  # the system has no more watches to give
            on_silent(loud, str(error))


def _changes(roots: Sequence[Path], stop: Event) -> Generator[set[tuple[Change, str]]]:
    """What the system tells, several times a second also if it is nothing."""
    if not roots:
        while not stop.wait(_WAKE_MS / 1000):
            yield set()
        return
    yield from watchfiles.watch(
        *roots,
        watch_filter=None,
        debounce=_BURST_MS,
        step=_QUIET_MS,
        rust_timeout=_WAKE_MS,
        yield_on_timeout=True,
        stop_event=stop,
        raise_interrupt=True,
        force_polling=False,  # where that is needed, our own look is cheaper
        ignore_permission_denied=True,
    )


def _follow(
    watching: Watching,
    roots: Sequence[Path],
    changes: Iterable[set[tuple[Change, str]]],
    stop: Event,
    every_s: float,
) -> None:
    """Look when something is told, or due; until the places are others."""
    look_at, places_at = 0.0, time.monotonic() + _PLACES_EVERY_S
    for batch in changes:
        touched = [
            path
            for change, path in batch
            if watching.concerns(path, is_new=change != Change.modified)
        ]
        if touched or time.monotonic() >= look_at:
            wait = watching.turn(touched)
            while wait is not None and wait < _WAKE_MS / 1000 and not stop.wait(wait):
                wait = watching.turn()
            look_at = time.monotonic() + (every_s if wait is None else wait)
        if stop.is_set():
            return
        if time.monotonic() >= places_at:
            if watching.places() != list(roots):
                return
            places_at = time.monotonic() + _PLACES_EVERY_S


def is_silent(place: Path, mounts: str = "/proc/self/mounts") -> bool:
    """Whether changes below this place go untold: it lies on another machine, say.

    Windows' own disks seen from WSL are such, and shares by their name.
    """
    path = os.path.realpath(place)
    if path.startswith("\\\\"):
        return True
    try:
        lines = Path(mounts).read_text(errors="surrogateescape").splitlines()
    except OSError:
        return False  # not Linux
    best, kind = "", ""
    for line in lines:
        _, at, found, *_ = line.split(" ")
        at = at.replace("\\040", " ").rstrip("/")
        if len(at) >= len(best) and (path == at or path.startswith(f"{at}/")):
            best, kind = at, found
    return kind in _SILENT
