"""sql/checks/*.sql: what must hold between tables, as queries that find bad rows.

A file's name is the check's. Its header says what holds and then, after an empty
line, at which asset it is shown, how bad it is (severity: warn or error, which it
is when nothing is said) and why it must hold.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb

from agentlake.pipelines.transform.checks.check import Check
from agentlake.pipelines.transform.sql_models import ModelError, tables_read
from agentlake.pipelines.warehouse.connect import Connection

_FILE = re.compile(
    r"/\*\n(?P<description>.+?)\n\n"
    r"asset +(?P<asset>\S+)\n"
    r"(?:severity +(?P<severity>warn|error)\n)?"
    r"why +(?P<why>.+?)\n\*/\n(?P<query>.+)",
    re.DOTALL,
)


def checks_between(folder: Path, binder: Connection) -> Iterator[Check]:
    """Read the files; `binder` has all tables, empty.

    Raises ModelError for a file that is no check.
    """
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
        yield Check(
            table=match["asset"],
            name=path.stem,
            description=f"{' '.join(match['description'].split())} {why}",
            severity="warn" if match["severity"] == "warn" else "error",
            bad_rows=query,
            reads=tables_read(query, path, binder),
        )
