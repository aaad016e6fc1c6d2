"""All checks on a warehouse, as `agentlake verify` and the tests run them."""

from collections.abc import Iterator

import duckdb

from agentlake.models.table import FACTS
from agentlake.pipelines.transform.checks.between import checks_between
from agentlake.pipelines.transform.checks.check import Check, Outcome, run
from agentlake.pipelines.transform.checks.frames import check_frames, frame_check
from agentlake.pipelines.transform.checks.header import check_model, header_checks
from agentlake.pipelines.transform.columns import bound
from agentlake.pipelines.transform.sql_models import SQL, Model, models
from agentlake.pipelines.warehouse.connect import Connection


def check_everything(connection: Connection) -> Iterator[Outcome]:
    """What came of the checks of all facts and models, and of those between tables.

    The warehouse must be up to date. Raises ModelError for a check that says nothing.
    """
    of_models, between = _all_checks()
    for fact in FACTS:
        rows, failures = check_frames(connection, fact)
        yield Outcome(check=frame_check(fact), bad=failures.total(), rows=rows)
    for model, checks in of_models:
        yield from check_model(connection, model, checks)
    for check in between:
        yield run(connection, check)


def _all_checks() -> tuple[list[tuple[Model, list[Check]]], list[Check]]:
    with duckdb.connect() as binder:
        types = bound(binder)
        of_models = [
            (model, header_checks(model, types[model.name].keys(), binder))
            for model in models().values()
        ]
        return of_models, list(checks_between(SQL / "checks", binder))
