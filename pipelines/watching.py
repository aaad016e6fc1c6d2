"""Load whatever agents write, as they write it: the loop behind `agentlake watch`.

A scan of the disk says what changed; an event only says when to scan. So a lost event
costs seconds and no line. The warehouse is open only while something is loaded. An
error is shown, and the load is tried again; it never ends the loop.
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

from agentlake.adapters.sdk.mounts import MOUNTS, file_system_of
from agentlake.adapters.sdk.scan import leads_out
from agentlake.errors import SourceError, UserError
from agentlake.pipelines import timing
from agentlake.pipelines.ingest.changes import (
    Asked,
    Baseline,
    ask,
    baseline_after,
    decide,
)
from agentlake.pipelines.ingest.listing import Listing
from agentlake.pipelines.ingest.loader import OnProgress
from agentlake.pipelines.ingest.scanner import Scanner, Snapshot
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.sync import OnRefresh, SyncResult, plans, sync_plans

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
        self.scanners: dict[str, Scanner] = {}
        self._baselines: dict[str, Baseline | None] = {}
        self._asked: dict[str, Asked] = {}
        self._told: dict[str, tuple[str, ...]] = {}
        """What was reported to be in the way of a scan."""

    def places(self) -> list[Path]:
        """Find the sources' folders again; every one that exists now."""
        found = plans(self._settings, self._environ)
        for plan in found:
            known = self.scanners.get(plan.adapter.SOURCE)
            if known is None or known.plan != plan:
                self.scanners[plan.adapter.SOURCE] = Scanner(plan)
        return [root for plan in found for root in plan.roots]

    def concerns(self, path: str, *, is_new: bool) -> bool:
        """Whether a scan may find what changed there."""
        return any(one.concerns(path, is_new=is_new) for one in self.scanners.values())

    def turn(self, touched: Collection[str] = ()) -> float | None:
        """Scan, and load what changed; in how many seconds something else is due."""
        now = time.time()
        snapshots = {one.source: one for one in self._scanned(now, touched)}
        decision = decide(snapshots.values(), self._baselines, self._asked, now)
        if decision.load:
            self._load_apart(snapshots, decision.load, now)
            return 0.0  # what was written meanwhile
        return decision.wait_s

    def _scanned(self, now: float, touched: Collection[str]) -> Iterator[Snapshot]:
        for source, scanner in self.scanners.items():
            snapshot = scanner.scan(now, touched)
            if snapshot.in_the_way and snapshot.in_the_way != self._told.get(source):
                self._on_error([source], SourceError("; ".join(snapshot.in_the_way)))
            self._told[source] = snapshot.in_the_way
            yield snapshot

    def _load_apart(
        self,
        snapshots: Mapping[str, Snapshot],
        chosen: Mapping[str, frozenset[int] | None],
        now: float,
    ) -> None:
        """Load these sources together; one by one if that fails for one of them."""
        for source in chosen:
            self._asked[source] = ask(
                snapshots[source],
                self._baselines.get(source),
                self._asked.get(source),
                now,
            )
        try:
            self._load(snapshots, chosen, now)
        except UserError as error:  # the same for all of them
            self._on_error(list(chosen), error)
        except Exception as error:  # noqa: BLE001 - it is said, and tried again
            if len(chosen) == 1:
                self._on_error(list(chosen), error)
                return
            for source, ids in chosen.items():
                self._load_apart(snapshots, {source: ids}, now)

    def _load(
        self,
        snapshots: Mapping[str, Snapshot],
        chosen: Mapping[str, frozenset[int] | None],
        now: float,
    ) -> None:
        named = [ids for ids in chosen.values() if ids is not None]
        only: frozenset[int] | None = None
        listings: dict[str, Listing] = {}  # for a full load all is listed anew
        if len(named) == len(chosen):
            only = frozenset().union(*named)
            listings = {source: self.scanners[source].listing for source in chosen}
        else:
            chosen = dict.fromkeys(chosen)
        began = time.monotonic()
        result = sync_plans(
            self._settings,
            [self.scanners[source].plan for source in chosen],
            listings=listings,
            only=only,
            wait_s=timing.LOAD_WAIT_S,
            on_progress=self._on_progress,
            on_refresh=self._on_refresh,
        )
        for source, ids in chosen.items():
            one, scanner = result.report.sources[source], self.scanners[source]
            if one.problem is not None:
                self._on_error([source], SourceError(one.problem))
                continue
            self._baselines[source] = baseline_after(
                snapshots[source],
                self._baselines.get(source),
                ids,
                now,
                unread=scanner.ids([path for path, _ in one.deferred]),
                half=scanner.ids(one.waiting),
            )
        read = [
            state.mtime_ns / 1e9
            for source, ids in chosen.items()
            for id_ in ids or ()
            if (state := snapshots[source].streams.get(id_))
        ]
        lag = max(0.0, time.time() - max(read)) if read else None
        seconds = time.monotonic() - began
        self._on_load(Loads(result=result, seconds=seconds, lag_s=lag))


def watch(
    watching: Watching,
    stop: Event,
    *,
    poll: bool = False,
    on_silent: OnSilent = lambda _places, _why: None,
) -> None:
    """Snapshot and load until `stop` is set.

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
        every = timing.POLL_S if silent else timing.SCAN_EVERY_S
        try:
            with closing(_changes(loud, stop)) as changes:
                _follow(watching, roots, changes, stop, every)
        except FileNotFoundError:  # it went away just now
            stop.wait(timing.PLACES_EVERY_S)
        except (OSError, RuntimeError) as error:
            poll = True  # the system has no more watches to give
            on_silent(loud, str(error))


def _changes(roots: Sequence[Path], stop: Event) -> Generator[set[tuple[Change, str]]]:
    """What the system tells, several times a second also if it is nothing."""
    if not roots:
        while not stop.wait(timing.WAKE_MS / 1000):
            yield set()
        return
    yield from watchfiles.watch(
        *roots,
        watch_filter=None,
        debounce=timing.BURST_MS,
        step=timing.QUIET_MS,
        rust_timeout=timing.WAKE_MS,
        yield_on_timeout=True,
        stop_event=stop,
        raise_interrupt=True,
        force_polling=False,  # where that is needed, our own scan is cheaper
        ignore_permission_denied=True,
    )


def _follow(
    watching: Watching,
    roots: Sequence[Path],
    changes: Iterable[set[tuple[Change, str]]],
    stop: Event,
    every_s: float,
) -> None:
    """Snapshot when something is told, or due; until the places are others."""
    scan_at, places_at = 0.0, time.monotonic() + timing.PLACES_EVERY_S
    for batch in changes:
        touched = [
            path
            for change, path in batch
            if watching.concerns(path, is_new=change != Change.modified)
        ]
        if touched or time.monotonic() >= scan_at:
            wait = watching.turn(touched)
            while (
                wait is not None
                and wait < timing.WAKE_MS / 1000
                and not stop.wait(wait)
            ):
                wait = watching.turn()
            scan_at = time.monotonic() + (every_s if wait is None else wait)
        if stop.is_set():
            return
        if time.monotonic() >= places_at:
            if watching.places() != list(roots):
                return
            places_at = time.monotonic() + timing.PLACES_EVERY_S


def is_silent(place: Path, mounts: str = MOUNTS) -> bool:
    """Whether changes below this place go untold: it lies on another machine, say.

    Windows' own disks seen from WSL are such, and shares by their name.
    """
    path = os.path.realpath(place)
    if path.startswith("\\\\"):
        return True
    return file_system_of(path, mounts) in _SILENT
