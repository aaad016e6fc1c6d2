"""The main job: from settings to a warehouse that is up to date.

The command line and Dagster call the same functions: `plans` says what is looked
for where, `load` (beside this) brings it in, `refresh_models` draws the conclusions,
and `sync` does all three and publishes the result.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from agentlake.adapters.registry import all_later
from agentlake.adapters.sdk.contract import Adapter, Stream
from agentlake.errors import UserError, did_you_mean
from agentlake.pipelines.ingest.listing import Listing, SourcePlan, list_streams
from agentlake.pipelines.ingest.loader import OnProgress, load
from agentlake.pipelines.ingest.replay import replay
from agentlake.pipelines.ingest.report import LoadReport, SourceReport
from agentlake.pipelines.ingest.write import record_load
from agentlake.pipelines.prices.quotes import check, fingerprint
from agentlake.pipelines.prices.update import prepare, update_quotes
from agentlake.pipelines.settings.places import look_for, searched_places
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.transform.comments import digest
from agentlake.pipelines.transform.refresh import Refreshed, refresh
from agentlake.pipelines.warehouse.connect import Connection, transaction, writing
from agentlake.pipelines.warehouse.meta import last_load_id, store, stored
from agentlake.pipelines.warehouse.publish import publish, publish_meanwhile
from agentlake.pipelines.warehouse.schema import ensure

TIME_ZONE = "time_zone"
"""The name in `meta.settings` under which the models find the user's zone."""

_REFRESHED = "refreshed"

OnRefresh = Callable[[], None]
Selects = Callable[[Stream], bool]


class SyncResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came in, what that did to the models, and where it all is."""

    report: LoadReport
    refreshed: list[Refreshed]
    """Empty where nothing could have changed."""
    warehouse: Path
    bytes: int


def plans(
    settings: Settings,
    environ: Mapping[str, str],
    sources: Collection[str] | None = None,
) -> list[SourcePlan]:
    """Every source that is switched on, or these, with the places that exist.

    Raises UserError for a name that is unknown or switched off, and for a price
    that cannot be understood.
    """
    known = all_later()
    try:
        check(settings.prices)
    except ValueError as error:
        msg = f"{settings.config}: {error}"
        raise UserError(msg) from error
    for name in sources or ():
        check_source(name, known)
        if not settings.source(name).enabled:
            msg = (
                f"{name} is switched off by sources.{name}.enabled in"
                f" {settings.config}, so nothing was loaded."
            )
            raise UserError(msg)
    return [
        _plan(adapter, settings, name, environ)
        for name, adapter in known.items()
        if settings.source(name).enabled and (not sources or name in sources)
    ]


def _plan(
    adapter: Adapter, settings: Settings, name: str, environ: Mapping[str, str]
) -> SourcePlan:
    places = look_for(adapter.ROOTS, settings, name, environ)
    return SourcePlan(
        adapter=adapter,
        roots=places.found,
        unseen=places.unseen,
        searched=searched_places(adapter.ROOTS, settings, name, environ),
        options=settings.source(name).options,
    )


class NothingMatchesError(UserError):
    """No stream is the one that was asked for; `streams` are those that are there."""

    def __init__(self, streams: Sequence[Stream]) -> None:
        super().__init__("no history matches, so nothing was loaded.")
        self.streams = streams


def check_source(name: str, known: Collection[str]) -> None:
    """Raise UserError, with the nearest name, for a source that does not exist."""
    if name not in known:
        guess = did_you_mean(name, known)
        msg = f"unknown source {name}.{guess} Known: {', '.join(known)}."
        raise UserError(msg)


def sync(
    settings: Settings,
    *,
    environ: Mapping[str, str],
    sources: Collection[str] | None = None,
    selects: Selects | None = None,
    on_progress: OnProgress = lambda _: None,
    on_refresh: OnRefresh = lambda: None,
) -> SyncResult:
    """Load what changed and refresh the models.

    `selects` limits the load to some streams; NothingMatchesError if there is none.
    """
    found = plans(settings, environ, sources)
    listings: dict[str, Listing] = {}
    only: set[int] | None = None
    if selects is not None:
        listings = {plan.adapter.SOURCE: list_streams(plan) for plan in found}
        only = {
            id_
            for listing in listings.values()
            for id_, (_, stream) in listing.streams.items()
            if selects(stream)
        }
        if not only:
            raise NothingMatchesError(
                [
                    stream
                    for listing in listings.values()
                    for _, stream in listing.streams.values()
                ]
            )
    return sync_plans(
        settings,
        found,
        listings=listings,
        only=only,
        on_progress=on_progress,
        on_refresh=on_refresh,
    )


def sync_plans(
    settings: Settings,
    found: Sequence[SourcePlan],
    *,
    listings: Mapping[str, Listing] = {},
    only: Collection[int] | None = None,
    wait_s: float = 10.0,
    on_progress: OnProgress = lambda _: None,
    on_refresh: OnRefresh = lambda: None,
) -> SyncResult:
    """Do what `sync` does, with plans that were made elsewhere."""
    refreshed: list[list[Refreshed]] = []

    def refresh_now(connection: Connection) -> None:
        on_refresh()
        refreshed.append(refresh_models(connection, settings))

    def show_now(connection: Connection) -> None:
        connection.execute("checkpoint")
        publish_meanwhile(settings.warehouse)

    with writing(settings.warehouse, wait_s=wait_s) as connection:
        report = load(
            connection,
            found,
            listings=listings,
            only=only,
            on_progress=on_progress,
            refresh=refresh_now,
            show=show_now,
        )
    publish(settings.warehouse)
    return _result(settings, report, refreshed[-1])


def replay_sources(
    settings: Settings, sources: Collection[str] | None = None
) -> SyncResult:
    """Parse what is in raw again, of all sources or these, and refresh the models."""
    known = all_later()
    for name in sources or ():
        check_source(name, known)
    chosen = {name: known[name] for name in sources or known}
    with writing(settings.warehouse) as connection:
        ensure(connection, known)
        report = LoadReport(
            load_id=last_load_id(connection) + 1,
            sources={name: SourceReport(source=name, found=True) for name in chosen},
        )
        for name, adapter in chosen.items():
            with transaction(connection):
                replayed = replay(connection, adapter, report.next_id)
                report.sources[name].replayed = replayed
                record_load(connection, report.part())
        refreshed = refresh_models(connection, settings)
    publish(settings.warehouse)
    return _result(settings, report, refreshed)


def refresh_models(
    connection: Connection, settings: Settings, names: Iterable[str] | None = None
) -> list[Refreshed]:
    """Bring these models, or all, up to date, with the user's zone and prices.

    Where all are asked for and nothing happened since all were, nothing is done:
    reading the SQL files alone takes longer than a load that finds nothing new.
    """
    _store(connection, TIME_ZONE, settings.time_zone)
    if names is not None:
        return _refresh(connection, settings, names)
    state = _state(connection, settings)
    if state == stored(connection, _REFRESHED):
        return []
    refreshed = _refresh(connection, settings, None)
    _store(connection, _REFRESHED, state)
    return refreshed


def _refresh(
    connection: Connection, settings: Settings, names: Iterable[str] | None
) -> list[Refreshed]:
    prepare(connection)
    return refresh(
        connection,
        names,
        prepare_prices=lambda con, used: update_quotes(con, used, settings.prices),
    )


def _state(connection: Connection, settings: Settings) -> str:
    """Everything that the models depend on, in short."""
    prices = hashlib.sha256(fingerprint(settings.prices).encode()).hexdigest()[:16]
    return f"{last_load_id(connection)} {digest()} {prices}"


def _store(connection: Connection, name: str, value: str) -> None:
    if stored(connection, name) != value:
        with transaction(connection):
            store(connection, name, value)


def _result(
    settings: Settings, report: LoadReport, refreshed: list[Refreshed]
) -> SyncResult:
    return SyncResult(
        report=report,
        refreshed=refreshed,
        warehouse=settings.warehouse,
        bytes=settings.warehouse.stat().st_size,
    )
