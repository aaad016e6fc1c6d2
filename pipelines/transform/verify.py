"""Prove on the user's own data that incremental equals full.

All core tables are built again from staging, in a file of their own beside the
warehouse, and compared with what stands, row by row and in every column. What is
read is the published copy, so a load may go on meanwhile.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import msgspec

from agentlake.errors import UserError
from agentlake.pipelines.literal import literal
from agentlake.pipelines.transform.sql_models import (
    Model,
    fingerprint,
    macros,
    models,
)
from agentlake.pipelines.warehouse.connect import Connection, attach_published

_ASIDE = "aside"
_STANDING = "standing"


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """One table, compared."""

    model: str
    rows: int
    """In the table as it stands."""
    missing: int
    """Rows of the table built again that the standing one has not."""
    extra: int
    """Rows of the standing table that the one built again has not."""
    seconds: float

    @property
    def is_equal(self) -> bool:
        """Whether it holds the same rows, each as often."""
        return not self.missing and not self.extra


def verify(path: Path) -> Iterator[Verified]:
    """Compare table by table. Raises UserError when the models are not up to date."""
    with _beside(path) as connection:
        _refuse_outdated(connection, path)
        made: set[str] = set()
        for model in models().values():
            if not model.is_view:
                start = time.perf_counter()
                _make_inputs(connection, model, made)
                connection.execute(f"create table {model.name} as {model.query}")
                made.add(model.name)
                yield _compared(connection, model, start)


@contextmanager
def _beside(path: Path) -> Iterator[Connection]:
    """A connection that may write aside, and reads the warehouse under its own name."""
    with (
        TemporaryDirectory(prefix=".verify-", dir=path.parent) as folder,
        duckdb.connect() as connection,
    ):
        attach_published(connection, path, _STANDING)
        aside = literal(str(Path(folder, "aside.duckdb")))
        connection.execute(f"attach {aside} as {_ASIDE}")
        connection.execute("set preserve_insertion_order = false")
        connection.execute(f"use {_ASIDE}")
        for schema in ("staging", "core", "meta"):
            connection.execute(f"create schema {schema}")
        connection.execute(
            f"create view meta.settings as from {_STANDING}.meta.settings"
        )
        connection.execute(macros())
        yield connection


def _refuse_outdated(connection: Connection, path: Path) -> None:
    state = connection.execute(
        f"""
        select model, fingerprint from {_STANDING}.meta.model_state
        where load_id = (select coalesce(max(load_id), 0) from {_STANDING}.meta.loads)
        """
    ).fetchall()
    # After the SQL's own fingerprint may stand that of the prices.
    current = {model: text.partition(",")[0] for model, text in state}
    for model in models().values():
        if not model.is_view and current.get(model.name) != fingerprint(model.name):
            msg = (
                f"{path}: {model.name} is not up to date, so nothing was compared."
                " Run `agentlake load` first."
            )
            raise UserError(msg)


def _make_inputs(connection: Connection, model: Model, made: set[str]) -> None:
    """What the model reads: core tables are those built again, the rest stands."""
    for table in model.reads:
        if table in made:
            continue
        read = models().get(table)
        if read is not None:
            _make_inputs(connection, read, made)
        query = f"from {_STANDING}.{table}" if read is None else read.query
        connection.execute(f"create view {table} as {query}")
        made.add(table)


def _compared(connection: Connection, model: Model, start: float) -> Verified:
    again = f"select * from {_ASIDE}.{model.name}"
    columns = ", ".join(
        f'"{name}"' for name, *_ in connection.execute(f"describe {again}").fetchall()
    )
    stands = f"select {columns} from {_STANDING}.{model.name}"
    rows, missing, extra = connection.execute(
        f"""
        select
            (select count(*) from {_STANDING}.{model.name}),
            (select count(*) from ({again} except all {stands})),
            (select count(*) from ({stands} except all {again}))
        """
    ).fetchall()[0]
    return Verified(
        model=model.name,
        rows=rows,
        missing=missing,
        extra=extra,
        seconds=time.perf_counter() - start,
    )
