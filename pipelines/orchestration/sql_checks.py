"""sql/checks/*.sql: what must hold between tables, as queries that find bad rows.

A file's name is the check's. Its header says what holds and then, after an empty
line, at which asset it is shown, how bad it is (severity: warn or error, which it
is when nothing is said) and why it must hold.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import duckdb
import msgspec

from agentlake.pipelines.orchestration.checks import (
    ERROR,
    SHOWN_ROWS,
    WARN,
    asset_key,
    result,
    table,
)
from agentlake.pipelines.orchestration.lake import Lake, told_plainly
from agentlake.pipelines.transform.sql_models import SQL, ModelError, tables_read
from agentlake.pipelines.warehouse.connect import Connection

_FILE = re.compile(
    r"/\*\n(?P<description>.+?)\n\n"
    r"asset +(?P<asset>\S+)\n"
    r"(?:severity +(?P<severity>warn|error)\n)?"
    r"why +(?P<why>.+?)\n\*/\n(?P<query>.+)",
    re.DOTALL,
)


class SqlCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One file of `sql/checks`."""

    name: str
    asset: str
    description: str
    severity: dg.AssetCheckSeverity
    query: str
    reads: tuple[str, ...]


def sql_checks(binder: Connection) -> list[dg.AssetChecksDefinition]:
    """All checks between tables. Raises ModelError for a file that is not one."""
    return [_as_dagster(one) for one in read_checks(SQL / "checks", binder)]


def read_checks(folder: Path, binder: Connection) -> Iterator[SqlCheck]:
    """Read the files; `binder` has all tables, empty."""
    for path in sorted(folder.glob("*.sql")):
        match = _FILE.fullmatch(path.read_text())
        if match is None:
            msg = (
                f"{path}: a check begins with a /* header */: what holds, an empty"
                " line, asset, severity (warn or error, may be left out), why"
            )
            raise ModelError(msg)
        query = match["query"].strip()
        try:
            binder.execute(f"from ({query}) limit 0")
        except duckdb.Error as error:
            msg = f"{path}: {error}"
            raise ModelError(msg) from error
        why = " ".join(match["why"].split())
        yield SqlCheck(
            name=path.stem,
            asset=match["asset"],
            description=f"{' '.join(match['description'].split())} {why}",
            severity=WARN if match["severity"] == "warn" else ERROR,
            query=query,
            reads=tables_read(query, path, binder),
        )


def _as_dagster(check: SqlCheck) -> dg.AssetChecksDefinition:
    key = asset_key(check.asset)
    others = [
        asset_key(name)
        for name in check.reads
        if name != check.asset and not name.startswith("meta.")
    ]

    @dg.asset_check(
        asset=key,
        name=check.name,
        description=check.description,
        additional_deps=others,
    )
    def _find(lake: dg.ResourceParam[Lake]) -> dg.AssetCheckResult:
        with told_plainly():
            connection = lake.connection
            ((bad,),) = connection.execute(
                f"select count(*) from ({check.query})"
            ).fetchall()
            shown = f"from ({check.query}) limit {SHOWN_ROWS}"
            bad_rows = table(connection, shown) if bad else None
        return result(key, check.name, bad, bad_rows, severity=check.severity)

    return _find
