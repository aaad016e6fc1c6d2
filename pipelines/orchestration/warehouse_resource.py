"""The warehouse as a Dagster resource: one connection per run, opened when needed."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property

import dagster as dg
import duckdb

from agentlake.adapters.registry import names
from agentlake.errors import SourceError, UserError
from agentlake.pipelines import timing
from agentlake.pipelines.ingest.listing import SourcePlan
from agentlake.pipelines.settings.open import open_settings
from agentlake.pipelines.settings.settings import Settings
from agentlake.pipelines.sync import plans, refresh_models
from agentlake.pipelines.transform.refresh import Refreshed
from agentlake.pipelines.warehouse.compact import Compacted, compact
from agentlake.pipelines.warehouse.connect import BusyError, Connection, writing
from agentlake.pipelines.warehouse.files import vault_of
from agentlake.pipelines.warehouse.publish import publish
from agentlake.pipelines.warehouse.schema import ensure


class WarehouseResource:
    """What the ops of one run share: the settings and the open warehouse.

    Both are made when first asked for, so that what is wrong with them is shown by
    the step that needed it, in its own words.
    """

    def __init__(self, wait_s: float) -> None:
        self._wait_s = wait_s
        self._busy: UserError | None = None
        self._stack = ExitStack()
        self._is_changed = False

    @cached_property
    def settings(self) -> Settings:
        """The settings in force: the file, and the variables of this process."""
        return open_settings(os.environ)

    @cached_property
    def connection(self) -> Connection:
        """The warehouse, ours alone until the run ends. Raises UserError."""
        if self._busy is not None:
            raise self._busy  # the other steps need not wait as well
        try:
            connection = self._opened()
        except UserError as error:
            self._busy = error
            raise
        self._is_changed = True
        ensure(connection, names())
        return connection

    def _opened(self) -> Connection:
        """Wait for it if need be, and say for whom."""
        first_wait = min(timing.WAIT_SAID_AFTER_S, self._wait_s)
        try:
            return self._stack.enter_context(
                writing(self.settings.warehouse, wait_s=first_wait)
            )
        except BusyError as error:
            if self._wait_s <= first_wait:
                raise
            text = f"{error} Waiting for it, {self._wait_s:.0f} s at most."
            dg.get_dagster_logger().warning(text)
        return self._stack.enter_context(
            writing(self.settings.warehouse, wait_s=self._wait_s - first_wait)
        )

    def is_there(self) -> bool:
        """Whether anything was ever loaded."""
        path = self.settings.warehouse
        return path.exists() or vault_of(path).exists()

    def plan(self, source: str) -> SourcePlan | None:
        """Where this source is looked for; None if the settings switch it off."""
        if not self.settings.source(source).enabled:
            return None
        (plan,) = plans(self.settings, os.environ, [source])
        return plan

    def refresh(self, name: str) -> Refreshed:
        """Bring one model up to date with what it reads."""
        done = refresh_models(self.connection, self.settings, [name])
        return next(one for one in done if one.model == name)

    def compact(self) -> Compacted:
        """Make the vault small, if it pays: the last that a run asks for."""
        self._stack.close()
        done = compact(self.settings.warehouse, wait_s=self._wait_s)
        self._is_changed = True
        return done

    def close(self) -> None:
        """Let others have the warehouse, and publish what the run changed."""
        self._stack.close()
        if self._is_changed:  # else the run did not come so far
            publish(self.settings.warehouse, throttled=True)


@dg.resource(description="The warehouse file, open for as long as one run takes.")
def warehouse_resource(_: dg.InitResourceContext) -> Iterator[WarehouseResource]:
    """One WarehouseResource per run."""
    lake = WarehouseResource(timing.RUN_WAIT_S)
    try:
        yield lake
    finally:
        lake.close()


@contextmanager
def plain_errors() -> Iterator[None]:
    """Show what the user can put right as the step's failure, not as a bug's trace."""
    try:
        yield
    except (UserError, SourceError) as error:
        raise dg.Failure(description=str(error), allow_retries=False) from error
    except duckdb.CatalogException as error:
        raise dg.Failure(description=error_text(error), allow_retries=False) from error


def error_text(error: Exception) -> str:
    """What the error says, and what helps where it is known."""
    if isinstance(error, duckdb.CatalogException):
        return f"{error}\nIf a table does not exist yet: materialize it first."
    return str(error)
